"""Messages that speak of suicide or self-harm, told by a rule before any model is asked.

A language model of this size cannot be trusted with them, so they get a fixed answer with the
numbers that help in China: 12356 (the national psychological help line since 2025, National Health
Commission), 120 (ambulance) and 110 (police). The rule errs towards answering kindly once too
often, but not for the many harmless uses of the same characters (笑死我了, 跳楼价, 想死你了).
"""

# ruff: noqa: E501 - a pattern reads better whole than broken at a hundred characters
from __future__ import annotations

import re
import unicodedata

FINISH_REASON = "care"

ANSWER = (
    "谢谢你愿意把这些说出来，你现在一定很难受。你的命很重要，你不用一个人扛着。"
    "请现在就联系一个你信任的人，让他陪在你身边，也可以拨打全国统一心理援助热线12356。"
    "如果你已经受伤，或者马上有危险，请立刻拨打120或110。"
    "我只是一个聊天程序，帮不了这么重要的事，但有人可以，也愿意帮你。"
)
ANSWER_ENGLISH = (
    "Thank you for saying this. It must be very hard for you right now, and you do not have to "
    "carry it alone. Please reach out to someone you trust now. In China you can call the "
    "psychological help line 12356; if you are hurt or in danger, call 120 or 110 at once. "
    "Elsewhere, findahelpline.com lists a line near you. I am only a program; people can help you, "
    "and they want to."
)

_SIMPLIFIED = str.maketrans(
    "殺輕殘傷結樓著遺書離開這個沒義夠來過會藥嗎為麼後斷請見尋燒繩說點還終體覺夢無門條間從數顆總氣頭劃別讓邊給將腦實話寫遠醒樂愛惱煩腳難",
    "杀轻残伤结楼着遗书离开这个没义够来过会药吗为么后断请见寻烧绳说点还终体觉梦无门条间从数颗总气头划别让边给将脑实话写远醒乐爱恼烦脚难",
)
# Inside a clause only: punctuation between the parts of a pattern ends it.
_GAP = r"[^，。！？；：,.!?;:\n]"

# What is taken out before anything is looked for: the same characters meaning something else.
_HARMLESS = re.compile(
    "|".join(
        (
            r"跳楼(?:价|机|大?甩卖|清仓|处理|促销)",
            r"自杀(?:式|小队|突击队|兔|岛|游戏)",
            r"自残(?:流|技能|伤害)",
            r"紫砂(?:壶|锅|煲|杯|茶|泥|陶)",
            r"烧炭(?:烤|火|取暖|窑|工)",
            r"安乐死",
            # missing somebody, a loop, learning by heart, …
            r"想死(?:你|您|妳|我了|我们了|我啦|她|他|它|妈|爸|爷|奶|姥|家|宝|记|循|机|党|板|磕|缠|锁|链|鱼|面)",
            r"(?:我|俺|咱|可|真|都)?想死(?:这|那|老)(?:口|个|碗|家|里|儿)",
            r"(?:累|困|热|冷|饿|忙|尬|尴尬|无聊|晒|辣|酸|馋|撑|渴|堵|痒|臭|吵|社死)"
            r"(?:得|到|的)(?:我|人|我都|简直|真|快|都)*想死",
            r"不想活(?:动|跃|成|络|埋)",
            r"(?:不小心|差点|差一点|意外|失手)" + _GAP + r"{0,10}自己",
            r"(?:店|公司|厂|企业|行业|花|草|树|苗|鱼|生意)" + _GAP + r"{0,6}活不(?:下去|成)",
            r"活不下去(?:的)?(?:花|草|植物|鱼|树|苗|店|公司|生意)",
            r"(?:游戏|这局|这把|存档|副本|皮肤|角色|英雄|boss|怪)"
            + _GAP
            + r"{0,12}(?:自杀|自残|去死|送死)",
            r"(?:自杀|去死)" + _GAP + r"{0,6}(?:游戏|复活|回泉水|回城|刷新点)",
            r"(?:不|没|别|从没|从来没|绝不)想(?:过)?(?:要)?(?:死|自杀|轻生)(?!都)",
            r"(?:不会|绝不|不可能|没)(?:去)?(?:自杀|轻生|跳楼)",
            r"(?:防|预防|反对|禁止)自杀",
        )
    )
)

_SPEAKS_OF_IT = re.compile(
    "|".join(
        (
            # the words themselves
            r"自[杀鲨刹尽戕缢]|紫砂|轻生|寻短见|寻死(?!觅活地?要)|自我了断|自行了断|结束生命",
            r"自[残伤虐]|(?<![规计策筹谋])(?:划|割|砍|烫|掐)伤?(?:我)?自己|(?:打|弄|抓|咬|撞)伤(?:我)?自己",
            r"割(?:腕|手腕|脉)|(?:划|割)(?:了|破|开)?(?:我的?|自己的?)?(?:手腕|胳膊|手臂)",
            r"伤害(?:我)?自己|想(?:要)?(?:弄|搞)死(?:我)?自己|杀了(?:我)?自己|杀死(?:我)?自己",
            # wanting to be dead
            r"(?<![不没别])(?:想|要|好想|只想)(?:要|去|快点|赶紧|早点|现在就|马上)?死"
            r"(?:了|掉|去|啊|呀|呢|吧|算了|的|一死|$|[，。！？；,.!?;~…\s])",
            r"死(?:了|掉)(?:一了百了|算了|更好|就好|才好|拉倒|该多好|多好|会不会|是不是|就(?:能|可以)?解脱|"
            r"就不(?:用|会)|也没人|是不是就|是一种解脱|反而)",
            r"(?:一了百了|以死|一死了之|求死|等死算了|求解脱)",
            r"死(?:亡)?(?:是|才是|也许是|可能是|真的?是)?" + _GAP + r"{0,4}(?:解脱)",
            r"想(?:要)?(?:彻底)?解脱" + _GAP + r"{0,6}(?:死|活|人生|一切)",
            r"(?:怎么|怎样|如何|什么方式|哪种方法?)"
            + _GAP
            + r"{0,6}(?:死|自杀|离开这个世界|离开人世)"
            + _GAP
            + r"{0,8}(?:痛|疼|快|轻松|容易|简单|舒服|体面|难受)",
            r"(?:宁愿|宁可|还不如|不如)(?:去)?死(?!活|等|心|记|守|磕|宅)",
            r"死的心都有|有(?:了)?(?:想)?死的(?:念头|想法|冲动|心)|(?:想|寻)死的(?:念头|想法|冲动)",
            # not wanting to live
            r"(?:不想|不愿|不愿意|没法|不敢|懒得)(?:再|继续|这样)*活(?:了|着|下去|$|[，。！？；,.!?;~…])",
            r"(?<!生)活(?:着|的)?(?:真的?|实在|又|也|都|还|根本|已经)*(?:是)?(?:没有?|毫无|有(?:什么|啥))"
            r"(?:任何|一点|什么|啥|多大|半点)*(?:意思|意义|希望|盼头|价值|劲|奔头|指望)",
            r"(?:活|撑|熬)不下去了?"
            + _GAP
            + r"{0,6}(?:想死|不想活|死)|(?:我|人|真的?|实在|快|已经)*活不(?:下去|了多久|成)了?(?:$|[，。！？；,.!?;~…了啊呀])",
            r"(?:生活|人生)(?:真的?|实在|对我来说|已经|都|也)*(?:没有?|毫无)(?:了|任何|一点|什么)*(?:意义|希望|盼头)",
            r"活够了|我(?:真的?|都|已经)*活腻(?:了|歪)|活(?:着|得)(?:真|好|太|很|实在)的?(?:累|痛苦|煎熬|受罪)",
            r"(?:没有?|失去|找不到)(?:了)?(?:继续)?活(?:下去|着)的?(?:动力|勇气|理由|意义|希望|意思|力气|念头|欲望)",
            r"为什么(?:还)?要?活(?:着|下去)|(?:何必|凭什么)活着|不配活(?:着)?|不该活(?:着|在)|不应该(?:活|出生|存在)",
            r"(?:没有|没了|少了)我" + _GAP + r"{0,10}(?:更好|轻松|解脱|开心|幸福|省心|清静)",
            r"(?:这个)?世界(?:上)?(?:不需要|容不下)我|我是(?:个)?(?:大家|家人|家里|父母|爸妈)的累赘",
            # ending it
            r"(?:结束|了结|了断|终结|放弃)(?:掉)?(?:我)?(?:自己)?(?:的|这)?(?:条|个|一?切)?(?:生命|性命|人生|一生|余生)",
            r"(?:想|要|打算|准备|决定)(?:要|就|彻底|永远|静静|悄悄|安静)*(?:地)?(?:离开|告别)(?:这个|这|了)?(?:世界|人世|人间|大家所有人)",
            r"(?:从|在)(?:这个)?(?:世界|世上|人间|地球)(?:上)?(?:永远|彻底)?(?:消失|蒸发)",
            r"(?:我)?(?:好|真|只|就)?想(?:彻底|永远|就这样|就这么|静静地?|悄悄)+(?:地)?消失",
            r"我(?:好|真的?|只|就)?想消失(?:$|[，。！？；,.!?;~…了])",
            r"(?:永远|再也|一直|就这样|从此)(?:地)?(?:都)?(?:不|别)(?:想|要|用|会|再)*(?:要)?醒(?:来|过来)|"
            r"(?:睡|睡着|闭上眼)(?:过去|了)?"
            + _GAP
            + r"{0,4}(?:就)?(?:别|不要|不用|再也不)(?:再)?醒(?:来|过来)?|"
            r"(?:想|要|希望)" + _GAP + r"{0,3}(?:一睡不醒|长眠|永远睡)",
            r"(?:想|要|打算|准备|去|正)(?:要|从|去|着|往)?"
            + _GAP
            + r"{0,6}(?:跳楼|跳河|跳江|跳海|跳桥|卧轨|上吊|服毒|喝农药|喝百草枯|烧炭|吞药|割脉|投河|投湖|撞车死|撞墙死)",
            r"(?:跳下去|从楼上跳|从(?:天台|楼顶|阳台|窗户|桥上|顶楼)"
            + _GAP
            + r"{0,4}跳)(?!伞|水|绳|舞|操|板)",
            r"站在(?:天台|楼顶|桥上|窗边|阳台|顶楼)" + _GAP + r"{0,10}(?:跳|解脱|结束|一步)",
            r"(?:吃|吞|喝)(?:了|下|掉)?"
            + _GAP
            + r"{0,6}(?:安眠药|药)"
            + _GAP
            + r"{0,8}(?:死|自杀|解脱|再也不醒)",
            r"(?:把|想把|一(?:整)?瓶|好多|很多|几十片|所有|整瓶)"
            + _GAP
            + r"{0,4}安眠药"
            + _GAP
            + r"{0,6}(?:吃|吞|喝|都)|"
            r"(?:吃|吞|喝)(?:了|下|光|完)*(?:一(?:整)?瓶|好多|很多|几十片|整瓶|所有的?)(?:的)?(?:安眠药|药片|止痛药|药)",
            r"(?:写|留|准备)(?:好|了|下|过)*(?:一封|封)?遗书|遗书(?:我)?(?:都|已经)?(?:写|准备)",
            r"生无可恋"
            + _GAP
            + r"{0,4}(?:想死|不想活|想走)|我(?:走|死)了(?:以后|之后|后)(?:请|你们|大家|帮我|替我|别)",
            # English
            r"\b(?:kill(?:ing)?|hurt(?:ing)?|harm(?:ing)?|cutting|end) ?my ?self\b|\bsuicid(?:e|al)\b|"
            r"\bself[- ]?harm(?:ing|ed)?\b|\bend(?:ing)? (?:my|it) (?:own )?(?:life|all)\b|"
            r"\b(?:want|wanna|wish|ready|going) (?:to |i (?:was|were) )?(?:die|be dead|dead)\b|"
            r"\b(?:don'?t|do not|no longer) want to (?:live|be alive|exist|wake up)(?! (?:in|with|there|here|at|near))\b|"
            r"\bbetter off (?:dead|without me)\b|\bno (?:reason|point) (?:to|in) liv(?:e|ing)\b|"
            r"\btake my own life\b",
        )
    )
)


def speaks_of_suicide(text: str) -> bool:
    """Whether a message speaks of suicide or self-harm, its writer's or somebody else's."""
    plain = _plain(text)
    return bool(_SPEAKS_OF_IT.search(_HARMLESS.sub("，", plain)))


def answer(text: str) -> str:
    """The fixed answer to ``text``: Chinese, or English where the message has no Chinese."""
    chinese = any("\u4e00" <= char <= "\u9fff" for char in text)
    return ANSWER if chinese else ANSWER_ENGLISH


def _plain(text: str) -> str:
    """Without disguise: full-width letters, traditional characters, characters strewn between."""
    text = unicodedata.normalize("NFKC", text).lower().translate(_SIMPLIFIED)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn", "Co", "Cn"))
    text = text.replace("\u2019", "'")
    # Spaces, stars and dots between two Chinese characters hide words; they end no clause.
    return re.sub(r"(?<=[\u4e00-\u9fff])[ \t*_·•|/\\-]+(?=[\u4e00-\u9fff])", "", text)
