<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en_US">
<context>
    <name>AboutSection</name>
    <message>
        <source>About</source>
        <translation>关于</translation>
    </message>
    <message>
        <source>Version {0}. Apache-2.0. Everything runs on your own machine.</source>
        <translation>版本 {0}，Apache-2.0 许可。一切都在你自己的电脑上运行。</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Model cards</source>
        <translation>模型说明</translation>
    </message>
    <message>
        <source>What the model was made of, and what it is worth</source>
        <translation>模型由什么训练而成，效果如何</translation>
    </message>
    <message>
        <source>Components and their licences</source>
        <translation>组件及其许可证</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
</context>
<context>
    <name>AddressPage</name>
    <message>
        <source>Addresses</source>
        <translation>地址解析</translation>
    </message>
    <message>
        <source>One address</source>
        <translation>单个地址</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Paste and parse</source>
        <translation>粘贴并解析</translation>
    </message>
    <message>
        <source>One address, or a list with one a line</source>
        <translation>一个地址，或每行一个地址的列表</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>打开文件…</translation>
    </message>
    <message>
        <source>Parse a file of addresses (Ctrl+O)</source>
        <translation>解析地址文件（Ctrl+O）</translation>
    </message>
    <message>
        <source>{0} was not finished: {1} are done.</source>
        <translation>“{0}”尚未完成：已处理 {1}。</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Drop one file at a time.</source>
        <translation>一次只能拖入一个文件。</translation>
    </message>
</context>
<context>
    <name>AppearanceSection</name>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Follow the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Light or dark; the system&apos;s choice is followed as it changes.</source>
        <translation>浅色或深色；跟随系统时，系统一变就变。</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Of the window; what the models understand does not depend on it.</source>
        <translation>只影响界面，不影响模型懂什么。</translation>
    </message>
    <message>
        <source>Font size</source>
        <translation>字号</translation>
    </message>
    <message>
        <source>80 to 200 %. Ctrl++ and Ctrl+- change it anywhere.</source>
        <translation>80% 到 200%。随处可按 Ctrl++ 和 Ctrl+- 调整。</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>标准</translation>
    </message>
    <message>
        <source>Back to 100 %</source>
        <translation>恢复到 100%</translation>
    </message>
    <message>
        <source>Text will be this large.</source>
        <translation>文字将是这样的大小。</translation>
    </message>
</context>
<context>
    <name>Application</name>
    <message>
        <source>A newer Tritalk is there</source>
        <extracomment>What became of the data, where the person had them deleted.</extracomment>
        <translation>Tritalk 有新版本</translation>
    </message>
    <message>
        <source>Version {0}</source>
        <translation>版本 {0}</translation>
    </message>
    <message>
        <source>All of it was deleted.</source>
        <translation>数据已全部删除。</translation>
    </message>
    <message>
        <source>Not everything could be deleted.</source>
        <translation>有些数据未能删除。</translation>
    </message>
    <message>
        <source>{0}: {1} rows, {2} to check, {3} failed</source>
        <translation>{0}：共 {1} 行，{2} 行待核对，{3} 行失败</translation>
    </message>
    <message>
        <source>The file of addresses is done</source>
        <translation>地址文件已处理完</translation>
    </message>
    <message>
        <source>The reply is there</source>
        <translation>回复已完成</translation>
    </message>
    <message>
        <source>The reply broke off</source>
        <translation>回复中断了</translation>
    </message>
</context>
<context>
    <name>BackupJob</name>
    <message>
        <source>Backed up to {0}</source>
        <translation>已备份到 {0}</translation>
    </message>
    <message>
        <source>A reply is streaming; restore when it has ended.</source>
        <translation>回复还在生成，请等它结束后再恢复。</translation>
    </message>
    <message>
        <source>Restored. What was here before is in {0}</source>
        <translation>已恢复。原有的数据保存在 {0}</translation>
    </message>
</context>
<context>
    <name>ChartsPanel</name>
    <message>
        <source>waiting for the first figures</source>
        <translation>正在等待第一批数据</translation>
    </message>
    <message>
        <source>nothing yet</source>
        <translation>暂无数据</translation>
    </message>
    <message>
        <source>this server tells no metrics</source>
        <translation>这台服务器不提供指标</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>{0} s ago</source>
        <translation>{0} 秒前</translation>
    </message>
    <message>
        <source>{0} min ago</source>
        <translation>{0} 分钟前</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>聊天</translation>
    </message>
    <message>
        <source>Addresses</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
    <message>
        <source>Requests per second</source>
        <translation>每秒请求数</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>每秒 token 数</translation>
    </message>
    <message>
        <source>Batch size</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Time in the queue</source>
        <translation>排队时间</translation>
    </message>
    <message>
        <source>CPU of the machine</source>
        <translation>整机 CPU</translation>
    </message>
    <message>
        <source>Memory of the machine</source>
        <translation>整机内存</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>GPU 显存</translation>
    </message>
</context>
<context>
    <name>ChatHeader</name>
    <message>
        <source>Probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>Tint each token by how probable it was</source>
        <translation>按每个字的概率着色</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>困惑度</translation>
    </message>
    <message>
        <source>Tint each token by how open the choice was</source>
        <translation>按每个字的困惑度着色</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>No tints</source>
        <translation>不着色</translation>
    </message>
    <message>
        <source>Go to the next passage the model was unsure of; Shift+F8 goes back</source>
        <translation>跳到模型下一处没把握的地方；Shift+F8 往回跳</translation>
    </message>
    <message>
        <source>Conversations (Ctrl+B)</source>
        <translation>对话列表（Ctrl+B）</translation>
    </message>
    <message>
        <source>Show the conversations</source>
        <translation>显示对话列表</translation>
    </message>
    <message>
        <source>Sampling (Ctrl+.)</source>
        <translation>采样设置（Ctrl+.）</translation>
    </message>
    <message>
        <source>Show the sampling panel</source>
        <translation>显示采样设置</translation>
    </message>
</context>
<context>
    <name>ChatModelRow</name>
    <message>
        <source>served</source>
        <translation>已启用</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>加载中</translation>
    </message>
    <message>
        <source>unloading</source>
        <translation>正在卸载</translation>
    </message>
    <message>
        <source>not served</source>
        <translation>未启用</translation>
    </message>
    <message>
        <source>Stop serving</source>
        <translation>停用</translation>
    </message>
    <message>
        <source>Serve</source>
        <translation>启用</translation>
    </message>
    <message>
        <source>Frees its memory; it stays on this machine</source>
        <translation>释放它占用的内存，模型仍留在本机</translation>
    </message>
    <message>
        <source>Load it now and at every start; then it can be chosen in a chat</source>
        <translation>现在加载，以后每次启动也加载；之后就能在对话里选用</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>Delete it from this machine</source>
        <translation>从本机删除</translation>
    </message>
</context>
<context>
    <name>ChatModelsCard</name>
    <message>
        <source>Chat models of your own</source>
        <translation>自己的聊天模型</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>导入…</translation>
    </message>
    <message>
        <source>Import a chat model</source>
        <translation>导入聊天模型</translation>
    </message>
    <message>
        <source>None yet. Import one from a folder or from the Hugging Face hub, and choose it in a chat.</source>
        <translation>还没有。可以从文件夹或 Hugging Face 导入一个，然后在对话里选用。</translation>
    </message>
    <message>
        <source>Remove a chat model</source>
        <translation>删除聊天模型</translation>
    </message>
    <message>
        <source>Delete {0} from this machine?</source>
        <translation>要从本机删除 {0} 吗？</translation>
    </message>
    <message>
        <source>Conversations stay as they are.</source>
        <translation>对话记录不受影响。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
</context>
<context>
    <name>ChatPage</name>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Say something to begin.
Each token of a reply is tinted by how probable it was to the model.</source>
        <translation>说点什么，开始对话。
回复中的每个字都按模型给出的概率着色。</translation>
    </message>
    <message>
        <source>Waiting for the server to start…</source>
        <translation>正在等待服务器启动…</translation>
    </message>
</context>
<context>
    <name>ChatSection</name>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Send with</source>
        <translation>发送键</translation>
    </message>
    <message>
        <source>While an input method composes, Enter never sends.</source>
        <translation>输入法组字时，回车不会发送。</translation>
    </message>
    <message>
        <source>Enter; Shift+Enter breaks the line</source>
        <translation>Enter 发送，Shift+Enter 换行</translation>
    </message>
    <message>
        <source>Ctrl+Enter; Enter breaks the line</source>
        <translation>Ctrl+Enter 发送，Enter 换行</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>着色</translation>
    </message>
    <message>
        <source>What the tokens of replies are tinted by.</source>
        <translation>回复中的字按什么着色。</translation>
    </message>
    <message>
        <source>Probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>困惑度</translation>
    </message>
    <message>
        <source>No colours</source>
        <translation>不着色</translation>
    </message>
    <message>
        <source>New conversations</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Begin with</source>
        <translation>初始采样</translation>
    </message>
    <message>
        <source>Each conversation keeps its own values once it has begun.</source>
        <translation>对话开始后，各自保留自己的设置。</translation>
    </message>
    <message>
        <source>The sampling of the conversation before</source>
        <translation>沿用上一个对话的采样</translation>
    </message>
    <message>
        <source>Steady</source>
        <translation>稳重</translation>
    </message>
    <message>
        <source>Natural</source>
        <translation>自然</translation>
    </message>
    <message>
        <source>Lively</source>
        <translation>活泼</translation>
    </message>
    <message>
        <source>Sampling of your own</source>
        <translation>自定义采样</translation>
    </message>
    <message>
        <source>Take over from the conversation on screen</source>
        <translation>采用当前对话的设置</translation>
    </message>
    <message>
        <source>All values of its sampling panel, for every conversation begun from now on</source>
        <translation>以后新建的对话都采用它采样面板里的所有值</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>What do you want to do?</source>
        <translation>想做什么？</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>No command fits.</source>
        <translation>没有匹配的命令。</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Say something…   Ctrl+Enter sends, Enter breaks the line</source>
        <extracomment>Ctrl+Enter sends and Enter breaks the line, rather than the other way round.</extracomment>
        <translation>说点什么…   Ctrl+Enter 发送，Enter 换行</translation>
    </message>
    <message>
        <source>Say something…   Enter sends, Shift+Enter breaks the line</source>
        <translation>说点什么…   Enter 发送，Shift+Enter 换行</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the computation (Esc)</source>
        <translation>停止计算（Esc）</translation>
    </message>
</context>
<context>
    <name>Conversation</name>
    <message>
        <source>Type a message first.</source>
        <extracomment>Whether a reply streams anywhere. A reply has ended, on screen or not: the conversation&apos;s id, the message, the seconds it took. A message was not answered: the sentence to show, and the text to give back to the composer. Messages were deleted and can be brought back: how many.</extracomment>
        <translation>请先输入消息。</translation>
    </message>
    <message>
        <source>The server is not running; see the server page.</source>
        <translation>服务器未在运行，详见“服务器”页。</translation>
    </message>
    <message>
        <source>The model {0} is not served any more; choose another at the right.</source>
        <translation>服务器上已没有模型 {0}，请在右侧另选一个。</translation>
    </message>
</context>
<context>
    <name>ConversationActions</name>
    <message>
        <source>“{0}” was deleted.</source>
        <translation>已删除“{0}”。</translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) deleted.</source>
        <translation>
            <numerusform>已删除 %n 条消息。</numerusform>
        </translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>ConversationDelegate</name>
    <message>
        <source>Title</source>
        <translation>标题</translation>
    </message>
</context>
<context>
    <name>ConversationModel</name>
    <message>
        <source>pinned</source>
        <extracomment>A new title for a conversation: its id, the title. Rows were read from the store.</extracomment>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>Last seven days</source>
        <translation>过去七天</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>更早</translation>
    </message>
    <message>
        <source>Found</source>
        <translation>搜索结果</translation>
    </message>
</context>
<context>
    <name>ConversationPanel</name>
    <message>
        <source>Rename</source>
        <extracomment>A conversation to show, and the message in it (None: where it was).</extracomment>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Del</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Begin another conversation (Ctrl+N)</source>
        <translation>开始新的对话（Ctrl+N）</translation>
    </message>
    <message>
        <source>Export and import</source>
        <translation>导出与导入</translation>
    </message>
    <message>
        <source>Export this conversation…</source>
        <translation>导出这个对话…</translation>
    </message>
    <message>
        <source>Import a conversation…</source>
        <translation>导入对话…</translation>
    </message>
    <message>
        <source>Search all messages   Ctrl+F</source>
        <translation>搜索全部消息   Ctrl+F</translation>
    </message>
    <message>
        <source>Search all messages</source>
        <translation>搜索全部消息</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>对话列表</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <translation>没有找到。</translation>
    </message>
    <message>
        <source>Your conversations will be kept here.</source>
        <translation>您的对话会保存在这里。</translation>
    </message>
</context>
<context>
    <name>CorrectionDialog</name>
    <message>
        <source>Correct a row</source>
        <extracomment>A correction was kept or taken away: the row&apos;s number, and whether the next one is wanted.</extracomment>
        <translation>修正一行</translation>
    </message>
    <message>
        <source>Row {0}</source>
        <translation>第 {0} 行</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Parse again</source>
        <translation>重新解析</translation>
    </message>
    <message>
        <source>Candidates</source>
        <translation>候选区划</translation>
    </message>
    <message>
        <source>Take another one</source>
        <translation>换用其他候选</translation>
    </message>
    <message>
        <source>Province</source>
        <translation>省</translation>
    </message>
    <message>
        <source>City</source>
        <translation>市</translation>
    </message>
    <message>
        <source>District</source>
        <translation>区县</translation>
    </message>
    <message>
        <source>Town</source>
        <translation>乡镇街道</translation>
    </message>
    <message>
        <source>Official code</source>
        <translation>区划代码</translation>
    </message>
    <message>
        <source>Entities</source>
        <translation>要素</translation>
    </message>
    <message>
        <source>Headings</source>
        <translation>列标题</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Take the parser&apos;s answer</source>
        <translation>恢复模型结果</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Save and next</source>
        <translation>保存并看下一行</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Type an address first.</source>
        <translation>请先输入地址。</translation>
    </message>
</context>
<context>
    <name>DataSection</name>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>in all</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>Data folder</source>
        <translation>数据文件夹</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Backup</source>
        <translation>备份</translation>
    </message>
    <message>
        <source>One file with all conversations, address files with their corrections, and settings; without the token of a remote server. It is not encrypted.</source>
        <translation>把所有对话、地址文件及其更正、设置存为一个文件；不含远程服务器的令牌。文件未加密。</translation>
    </message>
    <message>
        <source>Back up…</source>
        <translation>备份…</translation>
    </message>
    <message>
        <source>Restore…</source>
        <translation>恢复…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Conversations, address files, settings, caches and logs, for good.</source>
        <translation>永久删除对话、地址文件、设置、缓存和日志。</translation>
    </message>
    <message>
        <source>Delete all data…</source>
        <translation>删除所有数据…</translation>
    </message>
    <message>
        <source>No file manager could be opened for {0}</source>
        <translation>无法用文件管理器打开 {0}</translation>
    </message>
    <message>
        <source>Back up to</source>
        <translation>备份到</translation>
    </message>
    <message>
        <source>Backups (*.zip)</source>
        <translation>备份文件 (*.zip)</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Restore the backup of {0}?</source>
        <translation>恢复 {0} 的备份？</translation>
    </message>
    <message>
        <source>Conversations: {0}, messages: {1}, address files: {2}. What is here now is backed up into the data folder first, then replaced.</source>
        <translation>其中有 {0} 个对话、{1} 条消息、{2} 个地址文件。现有的数据会先备份到数据文件夹，再被替换。</translation>
    </message>
</context>
<context>
    <name>DeleteDialog</name>
    <message>
        <source>Delete all data</source>
        <translation>删除所有数据</translation>
    </message>
    <message>
        <source>delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>, </source>
        <translation>、</translation>
    </message>
    <message>
        <source>{0} ({1})</source>
        <translation>{0}（{1}）</translation>
    </message>
    <message>
        <source>To be deleted for good: {0}.</source>
        <translation>将永久删除：{0}。</translation>
    </message>
    <message>
        <source>Tritalk stops its server, deletes these and quits. The program itself with its models stays, and so do files you exported or backed up elsewhere, images in Docker, and whatever else is in these folders. Files are removed, not overwritten.</source>
        <translation>Tritalk 会停止服务器，删除以上数据，然后退出。程序本身及其自带的模型、你导出或备份到别处的文件、Docker 中的镜像，以及这些文件夹里的其他东西都会保留。文件只是删除，不会被覆写。</translation>
    </message>
    <message>
        <source>Also {0} ({1})</source>
        <translation>同时删除{0}（{1}）</translation>
    </message>
    <message>
        <source>Type “{0}” to confirm:</source>
        <translation>请输入“{0}”以确认：</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Delete and quit</source>
        <translation>删除并退出</translation>
    </message>
</context>
<context>
    <name>DivisionCard</name>
    <message>
        <source>confidence {0}</source>
        <translation>把握 {0}</translation>
    </message>
    <message>
        <source>Administrative division</source>
        <translation>行政区划</translation>
    </message>
    <message>
        <source>The text does not determine a division.</source>
        <translation>仅凭这段文字无法确定行政区划。</translation>
    </message>
    <message>
        <source>Several divisions fit the text equally well.</source>
        <translation>有多个区划同样符合文中所写。</translation>
    </message>
    <message>
        <source>Other candidates</source>
        <translation>其他可能</translation>
    </message>
    <message>
        <source>Candidates, best first</source>
        <translation>候选区划（按可能性排列）</translation>
    </message>
    <message>
        <source>and {0} more, in the copies</source>
        <translation>另有 {0} 个，复制结果中可见</translation>
    </message>
</context>
<context>
    <name>Dots</name>
    <message>
        <source>Step {0} of {1}</source>
        <extracomment>What a person may try first.</extracomment>
        <translation>第 {0} 步，共 {1} 步</translation>
    </message>
</context>
<context>
    <name>DropZone</name>
    <message>
        <source>Drop a file here</source>
        <translation>把文件拖到这里</translation>
    </message>
    <message>
        <source>CSV, TSV, TXT or XLSX, in UTF-8 or GBK. It is read here and goes nowhere else.</source>
        <translation>支持 CSV、TSV、TXT、XLSX，编码 UTF-8 或 GBK。文件只在本机读取，不会传到别处。</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Try the sample file</source>
        <translation>试用示例文件</translation>
    </message>
</context>
<context>
    <name>EarlierRow</name>
    <message>
        <source>not finished: {0}</source>
        <translation>未完成：{0}</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
</context>
<context>
    <name>EntityLegend</name>
    <message>
        <source>division</source>
        <translation>行政区划</translation>
    </message>
    <message>
        <source>community</source>
        <translation>社区</translation>
    </message>
    <message>
        <source>road and number</source>
        <translation>道路与门牌</translation>
    </message>
    <message>
        <source>place</source>
        <translation>地点</translation>
    </message>
    <message>
        <source>building and room</source>
        <translation>楼栋与房间</translation>
    </message>
    <message>
        <source>Colours of the entities</source>
        <translation>要素的颜色</translation>
    </message>
</context>
<context>
    <name>EntityModel</name>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Span</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>把握</translation>
    </message>
</context>
<context>
    <name>Field</name>
    <message>
        <source>Set by the variable {0}; it cannot be changed here.</source>
        <translation>由环境变量 {0} 设定，不能在这里更改。</translation>
    </message>
</context>
<context>
    <name>FileChoice</name>
    <message>
        <source>Column of addresses</source>
        <extracomment>A column&apos;s heading was clicked, or Enter pressed in it. Parse, with the addresses in that column.</extracomment>
        <translation>地址所在列</translation>
    </message>
    <message>
        <source>Choose a column</source>
        <translation>请选择一列</translation>
    </message>
    <message>
        <source>The first row names the columns</source>
        <translation>首行是列名</translation>
    </message>
    <message>
        <source>The first rows of the file</source>
        <translation>文件的前几行</translation>
    </message>
    <message>
        <source>Headings</source>
        <translation>列标题</translation>
    </message>
    <message>
        <source>Parse</source>
        <translation>开始解析</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>{0} rows</source>
        <translation>{0} 行</translation>
    </message>
    <message>
        <source>{0} columns</source>
        <translation>{0} 列</translation>
    </message>
    <message>
        <source>This file was begun before: {0} are done.</source>
        <translation>这个文件之前解析过一部分：已处理 {0}。</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>This file was parsed before. Parsing it again replaces the results and corrections.</source>
        <translation>这个文件之前已解析过。重新解析会覆盖原有的结果和修正。</translation>
    </message>
    <message>
        <source>Show the results</source>
        <translation>查看结果</translation>
    </message>
    <message>
        <source>No column looks like addresses; choose one.</source>
        <translation>没有哪一列像是地址，请自行选择。</translation>
    </message>
</context>
<context>
    <name>FilePage</name>
    <message>
        <source>Open a file of addresses</source>
        <extracomment>A file was opened or is in work: this page should be seen.</extracomment>
        <translation>打开地址文件</translation>
    </message>
    <message>
        <source>Tables and lists (*.csv *.tsv *.tab *.txt *.xlsx)</source>
        <translation>表格与列表 (*.csv *.tsv *.tab *.txt *.xlsx)</translation>
    </message>
</context>
<context>
    <name>FileStart</name>
    <message>
        <source>Files worked on before</source>
        <extracomment>Earlier work was chosen: the :class:`WorkFile`, and whether to go on with it.</extracomment>
        <translation>处理过的文件</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove the results and corrections of {0}?</source>
        <translation>要移除“{0}”的解析结果和修正吗？</translation>
    </message>
    <message>
        <source>The file itself and what was exported stay.</source>
        <translation>原文件和已导出的文件会保留。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>ImportDialog</name>
    <message>
        <source>Import a chat model</source>
        <translation>导入聊天模型</translation>
    </message>
    <message>
        <source>CDial-GPT, GPT2-chitchat, or any causal language model of transformers with a chat template. It is checked and copied; none of its code is run.</source>
        <translation>支持 CDial-GPT、GPT2-chitchat，以及 transformers 中任何带对话模板的因果语言模型。导入时会先检查再复制，不会运行其中的任何代码。</translation>
    </message>
    <message>
        <source>&amp;From</source>
        <translation>来源(&amp;F)</translation>
    </message>
    <message>
        <source>a folder, or a name on the hub: owner/model</source>
        <translation>文件夹，或 Hugging Face 上的名称：owner/model</translation>
    </message>
    <message>
        <source>Folder or name on the Hugging Face hub</source>
        <translation>文件夹或 Hugging Face 上的名称</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>What the model is called here</source>
        <translation>模型在本机的名称</translation>
    </message>
    <message>
        <source>A name on the hub is downloaded from huggingface.co now, and only on your request. Mind the model&apos;s licence; CDial-GPT&apos;s weights are for research only.</source>
        <translation>填写 Hugging Face 上的名称时，会立即从 huggingface.co 下载；只有您要求时才会联网。请留意模型的许可证：CDial-GPT 的权重仅供研究使用。</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>Choose the model&apos;s folder</source>
        <translation>选择模型所在的文件夹</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>{0} is imported ({1}).</source>
        <translation>{0} 已导入（{1}）。</translation>
    </message>
    <message>
        <source>The import was cancelled; a begun download goes on next time.</source>
        <translation>导入已取消；没下载完的部分下次会接着下载。</translation>
    </message>
    <message>
        <source> · {0} of {1} MB</source>
        <translation> · {0} / {1} MB</translation>
    </message>
</context>
<context>
    <name>LogView</name>
    <message>
        <source>Log</source>
        <extracomment>As many lines are kept and shown, the newest.</extracomment>
        <translation>日志</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>搜索日志</translation>
    </message>
    <message>
        <source>All lines</source>
        <translation>所有行</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>警告和错误</translation>
    </message>
    <message>
        <source>Errors only</source>
        <translation>仅错误</translation>
    </message>
    <message>
        <source>Which lines</source>
        <translation>显示哪些行</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>跟随</translation>
    </message>
    <message>
        <source>Stay at the end as lines arrive</source>
        <translation>有新的行时停留在末尾</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>The selected text, else all lines shown</source>
        <translation>复制选中的文字；没有选中时复制显示的所有行</translation>
    </message>
    <message>
        <source>The log of a remote server is with whoever runs it.</source>
        <translation>远程服务器的日志在运行它的人那里。</translation>
    </message>
    <message>
        <source>No line is like that.</source>
        <translation>没有符合条件的行。</translation>
    </message>
    <message>
        <source>No server has printed anything yet.</source>
        <translation>还没有服务器输出过内容。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{0} of %n line(s)</source>
        <translation>
            <numerusform>{0}/%n 行</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message>
        <source>You are editing an earlier message; sending it begins another version.</source>
        <translation>正在修改之前的消息，发送后会另起一个版本。</translation>
    </message>
    <message>
        <source>Your message will follow the reply you chose; what follows it now is kept as another version.</source>
        <translation>你的消息将接在所选回复之后；原来的后续会作为另一个版本保留。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc 键</translation>
    </message>
</context>
<context>
    <name>MessageDelegate</name>
    <message>
        <source>interrupted</source>
        <extracomment>Shown in place of a reply that has no token yet.</extracomment>
        <translation>已中断</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n 字</numerusform>
        </translation>
    </message>
    <message>
        <source>first after {0} ms</source>
        <translation>首字 {0} 毫秒</translation>
    </message>
    <message>
        <source>{0} tokens/s</source>
        <translation>{0} 字/秒</translation>
    </message>
    <message>
        <source>mean probability {0}</source>
        <translation>平均概率 {0}</translation>
    </message>
    <message numerus="yes">
        <source>%n oldest turn(s) left out</source>
        <translation>
            <numerusform>最早的 %n 轮未能放入</numerusform>
        </translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已说完</translation>
    </message>
    <message>
        <source>length limit reached</source>
        <translation>达到长度上限</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>a fixed answer, not the model&apos;s</source>
        <translation>固定回复，并非模型生成</translation>
    </message>
</context>
<context>
    <name>MessageView</name>
    <message>
        <source>You</source>
        <extracomment>Something is to be done with a message: the action&apos;s name, the row. Among the alternatives of the token that is explained: another is looked at, one is taken. What a screen reader was given of this view.</extracomment>
        <translation>你</translation>
    </message>
    <message>
        <source>{0}: {1}</source>
        <translation>{0}：{1}</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>复制整条消息</translation>
    </message>
    <message>
        <source>Edit and resend</source>
        <translation>编辑并重发</translation>
    </message>
    <message>
        <source>Regenerate the reply</source>
        <translation>重新生成回复</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Branch from here</source>
        <translation>从这里另起分支</translation>
    </message>
    <message>
        <source>Previous version</source>
        <translation>上一个版本</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>下一个版本</translation>
    </message>
    <message>
        <source>Delete from here</source>
        <translation>从这里起删除</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Del</translation>
    </message>
    <message>
        <source>Next unsure passage</source>
        <translation>下一处没把握的地方</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
</context>
<context>
    <name>ModelRow</name>
    <message>
        <source>version {0}</source>
        <translation>版本 {0}</translation>
    </message>
    <message>
        <source>unloaded</source>
        <translation>已卸载</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>卸载</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>Frees its memory; what needs it does not work until it is loaded again</source>
        <translation>释放它占用的内存；重新加载之前，依赖它的功能无法使用</translation>
    </message>
    <message>
        <source>Load it into memory</source>
        <translation>加载到内存</translation>
    </message>
</context>
<context>
    <name>ModelsTable</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Onboarding</name>
    <message>
        <source>Welcome to Tritalk</source>
        <extracomment>It was seen to its end or skipped: it need not come by itself again.</extracomment>
        <translation>欢迎使用 Tritalk</translation>
    </message>
    <message>
        <source>Chat, and see how sure the model was</source>
        <translation>聊天，并看清模型有多大把握</translation>
    </message>
    <message>
        <source>Each token of a reply is tinted: the stronger, the less probable it was. Point at a token to see what else could have stood there, and choose it to go on from it.</source>
        <translation>回复里的每个词元都带底色：颜色越深，它的概率越低。把鼠标移到词元上，可以看到这里还可能出现什么；选中另一个，就从那里重新生成。</translation>
    </message>
    <message>
        <source>Turn addresses into fields</source>
        <translation>把地址拆成字段</translation>
    </message>
    <message>
        <source>Type one address, or open a table of them: each is taken apart into its entities and placed in the official divisions, and what is doubtful is marked for you to check.</source>
        <translation>输入一条地址，或打开整张表格：每条地址都会拆分成各个要素，并对应到官方行政区划；把握不大的会标出来，供您核对。</translation>
    </message>
    <message>
        <source>All of it on your own machine</source>
        <translation>一切都在您自己的电脑上</translation>
    </message>
    <message>
        <source>Tritalk runs its own server; nothing you type leaves the machine. The line at the foot of the window tells how the server is. Every command is in the palette ({0}), every key on one sheet ({1}).</source>
        <translation>Tritalk 自带服务器，您输入的内容不会离开这台电脑。窗口底部一行显示服务器的状态。所有操作都能在命令面板（{0}）里找到，全部快捷键列在一张表上（{1}）。</translation>
    </message>
    <message>
        <source>Send a sample message: {0}</source>
        <translation>发送一条示例消息：{0}</translation>
    </message>
    <message>
        <source>Open a sample file of addresses</source>
        <translation>打开示例地址文件</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Begin</source>
        <translation>开始使用</translation>
    </message>
</context>
<context>
    <name>PersonaCard</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Which of the chat models that the server has answers here</source>
        <translation>由服务器上的哪个对话模型来回复</translation>
    </message>
    <message>
        <source>Persona</source>
        <translation>人设</translation>
    </message>
    <message>
        <source>One line a turn, yours first</source>
        <translation>一行一句，先写你说的话</translation>
    </message>
    <message>
        <source>An opening that stands before every message of this conversation and never drops out. Chat models of this kind know turns only: your first line, the answer to it, and so on; a missing last answer is added. The small model that comes with Tritalk follows no instructions and keeps no role; at most it picks up words and tone.</source>
        <translation>一段始终放在本对话每条消息之前、不会被挤出的开场白。这类对话模型只认识一问一答：第一行是你说的话，第二行是它的回答，依此类推；缺少的最后一句回答会自动补上。Tritalk 自带的小模型不会听从指令，也守不住角色，最多沿用其中的字词和语气。</translation>
    </message>
    <message>
        <source>{0} (not served)</source>
        <translation>{0}（未提供）</translation>
    </message>
    <message>
        <source>{0} ({1})</source>
        <translation>{0}（{1}）</translation>
    </message>
    <message numerus="yes">
        <source>%n turn(s) before every message</source>
        <translation>
            <numerusform>每条消息之前有 %n 句</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProbabilityLegend</name>
    <message>
        <source>low</source>
        <translation>低</translation>
    </message>
    <message>
        <source>high</source>
        <translation>高</translation>
    </message>
    <message>
        <source>How many equally likely tokens the choice of each token was like; below {0} it has no tint, from {1} up it is also underlined with dots.</source>
        <translation>选这个字时相当于在多少个同样可能的字里挑选；低于 {0} 不着色，达到 {1} 还会加点状下划线。</translation>
    </message>
    <message>
        <source>The probability of each token; from {0} up it has no tint, below {1} it is also underlined with dots.</source>
        <translation>每个字的概率：不低于 {0} 时不着色，低于 {1} 时另加点线。</translation>
    </message>
</context>
<context>
    <name>ProgressCard</name>
    <message>
        <source>Cancel</source>
        <extracomment>Write the results: to that file, in that format.</extracomment>
        <translation>取消</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Spreadsheet (XLSX)…</source>
        <translation>电子表格（XLSX）…</translation>
    </message>
    <message>
        <source>CSV…</source>
        <translation>CSV…</translation>
    </message>
    <message>
        <source>JSON, with every entity and candidate…</source>
        <translation>JSON（含全部要素和候选）…</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Exporting: {0}</source>
        <translation>正在导出：{0}</translation>
    </message>
    <message>
        <source>Reading the file…</source>
        <translation>正在读取文件…</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Paused: {0}</source>
        <translation>已暂停：{0}</translation>
    </message>
    <message>
        <source>Not finished: {0}. What is done is kept.</source>
        <translation>未完成：{0}。已处理的部分已保留。</translation>
    </message>
    <message>
        <source>What is done is kept; continue once that is mended.</source>
        <translation>已处理的部分已保留，问题解决后可继续。</translation>
    </message>
    <message>
        <source>Exported to {0}.</source>
        <translation>已导出到 {0}。</translation>
    </message>
    <message>
        <source>Reading: {0}</source>
        <translation>正在读取：{0}</translation>
    </message>
    <message>
        <source>The server is not running; start it on the server page, and the file goes on.</source>
        <translation>服务器未在运行。请到服务器页启动，之后会自动继续解析。</translation>
    </message>
    <message>
        <source>Waiting for the server ({0}); the file goes on by itself.</source>
        <translation>正在等待服务器：{0}。恢复后会自动继续解析。</translation>
    </message>
    <message>
        <source>Waiting for the server; the file goes on by itself.</source>
        <translation>正在等待服务器，恢复后会自动继续解析。</translation>
    </message>
    <message>
        <source>Export the results</source>
        <translation>导出结果</translation>
    </message>
</context>
<context>
    <name>Rail</name>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Addresses</source>
        <translation>地址解析</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Follow the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
</context>
<context>
    <name>Reader</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>ReplyRuns</name>
    <message>
        <source>Stopped before the reply began.</source>
        <extracomment>Whether ``asked`` was sent for this run, so that its text goes back if no reply comes. How many tokens the reply had before. A reply has ended, with its figures or an error; it is kept already. No token came: the run, and the sentence that says why.</extracomment>
        <translation>已在回复开始前停止。</translation>
    </message>
</context>
<context>
    <name>ResultModel</name>
    <message>
        <source>Row</source>
        <extracomment>How many rows there are of each kind: :class:`Counts`. The list was filtered, sorted or begun anew: rows may stand elsewhere. The work file cannot be read: the exception.</extracomment>
        <translation>行</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Division</source>
        <translation>区划</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation>把握</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>{0} candidates</source>
        <translation>{0} 个候选</translation>
    </message>
    <message>
        <source>not determined</source>
        <translation>无法确定</translation>
    </message>
    <message>
        <source>Check division</source>
        <translation>区划需核对</translation>
    </message>
    <message>
        <source>Check entities</source>
        <translation>要素需核对</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Corrected</source>
        <translation>已修正</translation>
    </message>
    <message>
        <source>Empty row</source>
        <translation>空行</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Correct…</source>
        <extracomment>The number of the row that a person wants to correct.</extracomment>
        <translation>修正…</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Sort by</source>
        <translation>排序方式</translation>
    </message>
</context>
<context>
    <name>ResultsCard</name>
    <message>
        <source>Results</source>
        <extracomment>What the buttons show, in their order.</extracomment>
        <translation>结果</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search the results</source>
        <translation>搜索结果</translation>
    </message>
    <message>
        <source>Headings</source>
        <translation>列标题</translation>
    </message>
    <message>
        <source>Correct…</source>
        <translation>修正…</translation>
    </message>
    <message>
        <source>Correct the chosen row (Enter)</source>
        <translation>修正所选的行（Enter）</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>To check</source>
        <translation>需核对</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Corrected</source>
        <translation>已修正</translation>
    </message>
    <message>
        <source>No row is like that.</source>
        <translation>没有符合条件的行。</translation>
    </message>
    <message>
        <source>The results appear here as they come.</source>
        <translation>解析结果会陆续显示在这里。</translation>
    </message>
    <message>
        <source>No row is done yet.</source>
        <translation>还没有处理任何一行。</translation>
    </message>
</context>
<context>
    <name>SamplingPanel</name>
    <message>
        <source>{0} of {1} tokens</source>
        <translation>{0} / {1} 字</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>采样</translation>
    </message>
    <message>
        <source>Steady</source>
        <translation>稳重</translation>
    </message>
    <message>
        <source>Likely tokens only; replies vary little.</source>
        <translation>只用大概率的字，回复变化小。</translation>
    </message>
    <message>
        <source>Natural</source>
        <translation>自然</translation>
    </message>
    <message>
        <source>The model&apos;s own defaults.</source>
        <translation>模型自己的默认值。</translation>
    </message>
    <message>
        <source>Lively</source>
        <translation>活泼</translation>
    </message>
    <message>
        <source>Rarer tokens too; replies vary a lot.</source>
        <translation>也用少见的字，回复变化大。</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 to 2. How far unlikely tokens get a chance; 0 always takes the likeliest.</source>
        <translation>0 到 2。越高，小概率的字越有机会；0 总是取最可能的字。</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p（核采样）</translation>
    </message>
    <message>
        <source>0.05 to 1. Only the likeliest tokens that together have this share are drawn from.</source>
        <translation>0.05 到 1。只在概率合计达到这个份额的最可能的字里抽取。</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k（候选数）</translation>
    </message>
    <message>
        <source>Longest reply</source>
        <translation>最多字数</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <extracomment>The vocabulary&apos;s size and the context bound two of them; these hold until the server has told those of its model. What a preset sets; the rest (length, seed, history) stays as the person has it.</extracomment>
        <translation>
            <numerusform>%n 字</numerusform>
        </translation>
    </message>
    <message>
        <source>0 to {0}. Only so many of the likeliest tokens are drawn from; 0 is off.</source>
        <translation>0 到 {0}。只在这么多个最可能的字里抽取；0 为关闭。</translation>
    </message>
    <message>
        <source>1 to {0} tokens. A reply that is cut off can be continued.</source>
        <translation>1 到 {0} 字。被截断的回复可以继续。</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>0.5 to 2. Above 1, tokens that occurred become less likely; 1 is none.</source>
        <translation>0.5 到 2。大于 1 时，出现过的字更不容易再出现；1 为不惩罚。</translation>
    </message>
    <message>
        <source>No repeats of</source>
        <translation>不重复片段</translation>
    </message>
    <message>
        <source>0 to 16 tokens. No sequence of this length occurs twice in a reply; 0 is off.</source>
        <translation>0 到 16 字。这么长的片段在一条回复里不会出现两次；0 为关闭。</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史轮数</translation>
    </message>
    <message>
        <source>0 to 10 exchanges before your message that the model is given.</source>
        <translation>0 到 10 轮。您的消息之前，模型能看到多少轮对话。</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>0 to 9,223,372,036,854,775,807. The same seed gives the same reply; empty draws another one each time.</source>
        <translation>0 到 9,223,372,036,854,775,807。相同的种子得到相同的回复；留空则每次随机。</translation>
    </message>
    <message>
        <source>random</source>
        <translation>随机</translation>
    </message>
    <message>
        <source>The seed is a whole number from 0, or empty.</source>
        <translation>随机种子应为不小于 0 的整数，或留空。</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>恢复默认</translation>
    </message>
    <message>
        <source>All of these as the model has them</source>
        <translation>全部恢复为模型的默认值</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>What the model was given and its last reply; the oldest messages drop out.</source>
        <translation>模型读到的内容加上最近一条回复；放不下时最早的消息会被略去。</translation>
    </message>
</context>
<context>
    <name>ServerPage</name>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>复制诊断信息</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Use the built-in Triton</source>
        <translation>改用内置 Triton</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>概况</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Restart</source>
        <translation>重启</translation>
    </message>
    <message>
        <source>Stop the server and start it as it is set</source>
        <translation>停止服务器，再按当前设置启动</translation>
    </message>
    <message>
        <source>Versions, state, settings and the end of the log, without keys and tokens</source>
        <translation>版本、状态、设置和日志末尾，不含密钥和令牌</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>运行状况</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>断开</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>The server itself goes on</source>
        <translation>服务器本身会继续运行</translation>
    </message>
    <message>
        <source>Stops it for every program that uses it</source>
        <translation>所有正在使用它的程序都会受影响</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>当前</translation>
    </message>
    <message>
        <source>Launcher</source>
        <translation>运行方式</translation>
    </message>
    <message>
        <source>Why this launcher</source>
        <translation>选择原因</translation>
    </message>
    <message>
        <source>Metrics</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
</context>
<context>
    <name>ServerSection</name>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
</context>
<context>
    <name>ServerSettingsForm</name>
    <message>
        <source>The settings cannot be saved: {0}</source>
        <extracomment>The models whose number of instances may be chosen.</extracomment>
        <translation>无法保存设置：{0}</translation>
    </message>
    <message>
        <source>Write the numbers of the GPUs with commas, such as 0, 1; none for all.</source>
        <translation>请用逗号分隔 GPU 编号，例如 0, 1；留空表示全部。</translation>
    </message>
    <message>
        <source>Write a size such as 8g or 512m; nothing for no limit.</source>
        <translation>请填写大小，例如 8g 或 512m；留空表示不限。</translation>
    </message>
    <message>
        <source>The name of an image has no spaces.</source>
        <translation>镜像名不能含空格。</translation>
    </message>
    <message>
        <source>Write an address such as unix:///var/run/docker.sock.</source>
        <translation>请填写地址，例如 unix:///var/run/docker.sock。</translation>
    </message>
    <message>
        <source>There is no such file.</source>
        <translation>没有这个文件。</translation>
    </message>
    <message>
        <source>The name of a header has only letters, digits and hyphens.</source>
        <translation>请求头的名称只能含字母、数字和连字符。</translation>
    </message>
    <message>
        <source>A token has only ASCII characters.</source>
        <translation>令牌只能含 ASCII 字符。</translation>
    </message>
    <message>
        <source>CA file</source>
        <translation>CA 文件</translation>
    </message>
    <message>
        <source>Certificates (*.pem *.crt);;All files (*)</source>
        <translation>证书 (*.pem *.crt);;所有文件 (*)</translation>
    </message>
    <message>
        <source>How the server runs</source>
        <translation>服务器如何运行</translation>
    </message>
    <message>
        <source>Models and devices</source>
        <translation>模型与设备</translation>
    </message>
    <message>
        <source>Docker</source>
        <translation>Docker</translation>
    </message>
    <message>
        <source>Remote server</source>
        <translation>远程服务器</translation>
    </message>
    <message>
        <source>Docker container</source>
        <translation>Docker 容器</translation>
    </message>
    <message>
        <source>The running server was started with other settings.</source>
        <translation>正在运行的服务器是用另一套设置启动的。</translation>
    </message>
    <message>
        <source>Restart to apply</source>
        <translation>重启以生效</translation>
    </message>
    <message>
        <source>Set the file aside</source>
        <translation>另存并重置</translation>
    </message>
    <message>
        <source>Keeps it as settings.json.damaged and begins with the defaults</source>
        <translation>原文件保留为 settings.json.damaged，并从默认设置开始</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Launcher</source>
        <translation>运行方式</translation>
    </message>
    <message>
        <source>Automatic takes Docker where a GPU is visible in it, else the built-in Triton.</source>
        <translation>自动：容器里能看到 GPU 时用 Docker，否则用内置 Triton。</translation>
    </message>
    <message>
        <source>Built-in Triton</source>
        <translation>内置 Triton</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>What the models run on; the built-in Triton runs on the CPU.</source>
        <translation>模型在什么设备上运行；内置 Triton 只用 CPU。</translation>
    </message>
    <message>
        <source>Keep running</source>
        <translation>保持运行</translation>
    </message>
    <message>
        <source>The server stays when the window is closed, until it is stopped.</source>
        <translation>关闭窗口后服务器仍会运行，直到手动停止。</translation>
    </message>
    <message>
        <source>Keep the server running when the window is closed</source>
        <translation>关闭窗口后让服务器继续运行</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>Numbers with commas; nothing for all of them.</source>
        <translation>编号用逗号分隔；留空表示全部。</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>What the chat model computes in; int8 on CPUs only, float16 on GPUs only.</source>
        <translation>聊天模型的计算精度；int8 仅限 CPU，float16 仅限 GPU。</translation>
    </message>
    <message>
        <source>Instances</source>
        <translation>实例数</translation>
    </message>
    <message>
        <source>How many instances of a model run, on each device.</source>
        <translation>每个设备上运行多少个模型实例。</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>The most that the container may use, such as 8g.</source>
        <translation>容器最多可用的内存，例如 8g。</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>镜像</translation>
    </message>
    <message>
        <source>Run this image; nothing builds one where it is missing.</source>
        <translation>运行这个镜像；留空则在缺少时自行构建。</translation>
    </message>
    <message>
        <source>built here</source>
        <translation>在本机构建</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>The address of a Docker engine; nothing takes the one that docker uses.</source>
        <translation>Docker 引擎的地址；留空则与 docker 命令相同。</translation>
    </message>
    <message>
        <source>as docker finds it</source>
        <translation>与 docker 命令相同</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>grpc://host:8001, or grpcs:// with TLS; http(s):// with gRPC on the next port.</source>
        <translation>grpc://主机:8001，用 TLS 则为 grpcs://；http(s):// 时 gRPC 在下一个端口。</translation>
    </message>
    <message>
        <source>Certificates (PEM) to trust; nothing takes the system&apos;s.</source>
        <translation>要信任的证书（PEM）；留空则使用系统证书。</translation>
    </message>
    <message>
        <source>the system&apos;s certificates</source>
        <translation>系统证书</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Header</source>
        <translation>请求头</translation>
    </message>
    <message>
        <source>The header that carries the token.</source>
        <translation>携带令牌的请求头。</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>Sent with each call; kept in settings.json, which only you can read.</source>
        <translation>随每次请求发送；保存在只有你能读的 settings.json 中。</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>隐藏</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Sections</source>
        <translation>分类</translation>
    </message>
</context>
<context>
    <name>ShortcutSheet</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Everything else is in the command palette: {0}</source>
        <translation>其他操作都在命令面板中：{0}</translation>
    </message>
</context>
<context>
    <name>SingleAddress</name>
    <message>
        <source>Clear</source>
        <extracomment>Several lines were pasted: a list of addresses.</extracomment>
        <translation>清空</translation>
    </message>
    <message>
        <source>A Chinese address</source>
        <translation>输入中文地址</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Parse</source>
        <translation>解析</translation>
    </message>
    <message>
        <source>Try an example</source>
        <translation>试试示例</translation>
    </message>
    <message>
        <source>Copy as JSON</source>
        <translation>复制为 JSON</translation>
    </message>
    <message>
        <source>Copy as a row</source>
        <translation>复制为一行</translation>
    </message>
    <message>
        <source>Division, candidates and entities in columns, as in an exported file</source>
        <translation>区划、候选和要素各占一列，与导出的文件相同</translation>
    </message>
    <message>
        <source>Entities</source>
        <translation>要素</translation>
    </message>
    <message>
        <source>No entity was found in the text.</source>
        <translation>文中没有找到要素。</translation>
    </message>
    <message>
        <source>Headings</source>
        <translation>列标题</translation>
    </message>
    <message>
        <source>The server is not running; see the server page.</source>
        <translation>服务器未在运行，请看服务器页。</translation>
    </message>
    <message>
        <source>Type or paste an address first.</source>
        <translation>请先输入或粘贴一个地址。</translation>
    </message>
    <message>
        <source>The clipboard holds no text.</source>
        <translation>剪贴板里没有文字。</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>已复制。</translation>
    </message>
    <message>
        <source>The server is starting; the address is parsed as soon as it is ready.</source>
        <translation>服务器正在启动，就绪后立即解析。</translation>
    </message>
    <message>
        <source>Parsing…</source>
        <translation>正在解析…</translation>
    </message>
    <message>
        <source>Type an address; it is parsed when you pause.</source>
        <translation>输入一个地址，停顿片刻即开始解析。</translation>
    </message>
</context>
<context>
    <name>StartCard</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Start no server; what was downloaded is kept</source>
        <translation>不启动服务器；已下载的内容会保留</translation>
    </message>
</context>
<context>
    <name>StatusBar</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>TokenPopover</name>
    <message>
        <source>(end)</source>
        <extracomment>The mouse moves on it, or has left it.</extracomment>
        <translation>（结束）</translation>
    </message>
    <message>
        <source>“{0}” token {1}</source>
        <translation>“{0}” 第 {1} 字</translation>
    </message>
    <message>
        <source>chosen by you · probability {0}</source>
        <translation>由您选定 · 概率 {0}</translation>
    </message>
    <message>
        <source>confidence {0} · probability {1}</source>
        <translation>把握 {0} · 概率 {1}</translation>
    </message>
    <message>
        <source>Choose one to go on from here</source>
        <translation>选择一个字，从这里重新生成</translation>
    </message>
</context>
<context>
    <name>Transfer</name>
    <message>
        <source>Web page with the colours (*.html)</source>
        <translation>带颜色的网页 (*.html)</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown 文本 (*.md)</translation>
    </message>
    <message>
        <source>Everything, to be imported again (*.json)</source>
        <translation>完整内容，可再导入 (*.json)</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <translation>导出对话</translation>
    </message>
    <message>
        <source>Exported to {0}.</source>
        <translation>已导出到 {0}。</translation>
    </message>
    <message>
        <source>Import a conversation</source>
        <translation>导入对话</translation>
    </message>
    <message>
        <source>Exported conversation (*.json)</source>
        <translation>导出的对话 (*.json)</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Computing</source>
        <translation>正在计算</translation>
    </message>
    <message>
        <source>Show Tritalk</source>
        <translation>显示 Tritalk</translation>
    </message>
    <message>
        <source>Hide Tritalk</source>
        <translation>隐藏 Tritalk</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Parse the address in the clipboard</source>
        <translation>解析剪贴板中的地址</translation>
    </message>
    <message>
        <source>Stop the server</source>
        <translation>停止服务器</translation>
    </message>
    <message>
        <source>Start the server</source>
        <translation>启动服务器</translation>
    </message>
    <message>
        <source>Keep running when the window is closed</source>
        <translation>关闭窗口后继续运行</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Tritalk goes on in the tray</source>
        <translation>Tritalk 仍在托盘中运行</translation>
    </message>
    <message>
        <source>Replies and files go on. The icon&apos;s menu brings the window back or quits.</source>
        <translation>回复和文件会继续处理。通过图标菜单可以重新打开窗口或退出。</translation>
    </message>
</context>
<context>
    <name>TraySection</name>
    <message>
        <source>Tray and notifications</source>
        <translation>托盘与通知</translation>
    </message>
    <message>
        <source>The icon&apos;s menu brings the window back, or quits.</source>
        <translation>托盘图标的菜单可以重新打开窗口，或退出。</translation>
    </message>
    <message>
        <source>This desktop shows no tray, so closing the window quits.</source>
        <translation>此桌面没有托盘，关闭窗口即退出。</translation>
    </message>
    <message>
        <source>Tray</source>
        <translation>托盘</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>通知</translation>
    </message>
    <message>
        <source>Closing</source>
        <translation>关闭时</translation>
    </message>
    <message>
        <source>Keep running in the tray when the window is closed</source>
        <translation>关闭窗口后继续在托盘中运行</translation>
    </message>
    <message>
        <source>When done</source>
        <translation>完成时</translation>
    </message>
    <message>
        <source>Only while the window is not in use.</source>
        <translation>只在窗口未使用时通知。</translation>
    </message>
    <message>
        <source>Tell me when a long reply or a file of addresses has ended</source>
        <translation>较长的回复或地址文件处理完后通知我</translation>
    </message>
</context>
<context>
    <name>UpdatesSection</name>
    <message>
        <source>Updates</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Asking…</source>
        <translation>正在查询…</translation>
    </message>
    <message>
        <source>Version {0} is there; this is {1}.</source>
        <translation>已有版本 {0}，当前是 {1}。</translation>
    </message>
    <message>
        <source>No newer version than {0} was found on {1}.</source>
        <translation>{1} 查询时，没有比 {0} 更新的版本。</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Off until you switch it on. It only tells; nothing is downloaded.</source>
        <translation>默认关闭。只提示，不下载任何东西。</translation>
    </message>
    <message>
        <source>Look for a newer version once a day</source>
        <translation>每天查询一次是否有新版本</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>The list of releases as JSON; it may be one of your own.</source>
        <translation>JSON 格式的版本列表，也可以用你自己的。</translation>
    </message>
    <message>
        <source>Check now</source>
        <translation>立即检查</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>打开发布页</translation>
    </message>
    <message>
        <source>Nothing is sent but the request itself: no version, no system, no identifier. Without a network nothing is said.</source>
        <translation>除请求本身外不发送任何信息：没有版本号，没有系统信息，没有标识。没有网络时不会打扰你。</translation>
    </message>
</context>
<context>
    <name>commands</name>
    <message>
        <source>Window</source>
        <extracomment>In the order of the sheet.</extracomment>
        <translation>窗口</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Addresses</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Command palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Go to the chat</source>
        <translation>转到聊天</translation>
    </message>
    <message>
        <source>Go to the addresses</source>
        <translation>转到地址</translation>
    </message>
    <message>
        <source>Go to the server</source>
        <translation>转到服务器</translation>
    </message>
    <message>
        <source>Show the introduction</source>
        <translation>显示使用介绍</translation>
    </message>
    <message>
        <source>Keep running in the tray when closed: on, off</source>
        <translation>关闭窗口后留在托盘：开/关</translation>
    </message>
    <message>
        <source>Close the window</source>
        <translation>关闭窗口</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Search all conversations</source>
        <translation>搜索全部对话</translation>
    </message>
    <message>
        <source>Rename the conversation</source>
        <translation>重命名对话</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <translation>导出对话</translation>
    </message>
    <message>
        <source>Import a conversation</source>
        <translation>导入对话</translation>
    </message>
    <message>
        <source>Show or hide the conversations</source>
        <translation>显示或隐藏对话列表</translation>
    </message>
    <message>
        <source>Show or hide the sampling panel</source>
        <translation>显示或隐藏采样面板</translation>
    </message>
    <message>
        <source>Stop the reply, or leave what is open</source>
        <translation>停止回复，或离开当前面板</translation>
    </message>
    <message>
        <source>Regenerate the reply</source>
        <translation>重新生成回复</translation>
    </message>
    <message>
        <source>Continue the reply</source>
        <translation>继续生成回复</translation>
    </message>
    <message>
        <source>Edit the last message</source>
        <translation>编辑最后一条消息</translation>
    </message>
    <message>
        <source>Previous version</source>
        <translation>上一个版本</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>下一个版本</translation>
    </message>
    <message>
        <source>Undo deleting</source>
        <translation>撤销删除</translation>
    </message>
    <message>
        <source>Next unsure passage</source>
        <translation>下一处没把握的地方</translation>
    </message>
    <message>
        <source>Previous unsure passage</source>
        <translation>上一处没把握的地方</translation>
    </message>
    <message>
        <source>Parse the clipboard</source>
        <translation>解析剪贴板中的地址</translation>
    </message>
    <message>
        <source>Open a file of addresses</source>
        <translation>打开地址文件</translation>
    </message>
    <message>
        <source>Search the results</source>
        <translation>搜索结果</translation>
    </message>
    <message>
        <source>Start the server</source>
        <translation>启动服务器</translation>
    </message>
    <message>
        <source>Stop the server</source>
        <translation>停止服务器</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>搜索日志</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>放大文字</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>缩小文字</translation>
    </message>
    <message>
        <source>Text at its normal size</source>
        <translation>标准字号</translation>
    </message>
    <message>
        <source>Light theme</source>
        <translation>浅色主题</translation>
    </message>
    <message>
        <source>Dark theme</source>
        <translation>深色主题</translation>
    </message>
    <message>
        <source>Follow the system&apos;s theme</source>
        <translation>主题跟随系统</translation>
    </message>
    <message>
        <source>Language: Chinese</source>
        <translation>语言：中文</translation>
    </message>
    <message>
        <source>Language: English</source>
        <translation>语言：英文</translation>
    </message>
    <message>
        <source>Language: follow the system</source>
        <translation>语言：跟随系统</translation>
    </message>
</context>
<context>
    <name>entity</name>
    <message>
        <source>province</source>
        <translation>省</translation>
    </message>
    <message>
        <source>city</source>
        <translation>市</translation>
    </message>
    <message>
        <source>district</source>
        <translation>区县</translation>
    </message>
    <message>
        <source>town</source>
        <translation>镇街</translation>
    </message>
    <message>
        <source>community</source>
        <translation>社区</translation>
    </message>
    <message>
        <source>road</source>
        <translation>路</translation>
    </message>
    <message>
        <source>road no.</source>
        <translation>路号</translation>
    </message>
    <message>
        <source>place</source>
        <translation>地点</translation>
    </message>
    <message>
        <source>sub-place</source>
        <translation>分点</translation>
    </message>
    <message>
        <source>building</source>
        <translation>楼栋</translation>
    </message>
    <message>
        <source>unit</source>
        <translation>单元</translation>
    </message>
    <message>
        <source>floor</source>
        <translation>楼层</translation>
    </message>
    <message>
        <source>room</source>
        <translation>室</translation>
    </message>
</context>
<context>
    <name>files</name>
    <message>
        <source>{0} of {1} rows</source>
        <translation>{0} / {1} 行</translation>
    </message>
    <message>
        <source>{0} rows/s · {1} left</source>
        <translation>{0} 行/秒 · 还需 {1}</translation>
    </message>
    <message>
        <source>{0} s</source>
        <translation>{0} 秒</translation>
    </message>
    <message>
        <source>{0} min</source>
        <translation>{0} 分钟</translation>
    </message>
    <message>
        <source>{0} h {1} min</source>
        <translation>{0} 小时 {1} 分钟</translation>
    </message>
    <message>
        <source>{0} rows</source>
        <translation>{0} 行</translation>
    </message>
    <message>
        <source>{0} to check</source>
        <translation>需核对 {0}</translation>
    </message>
    <message>
        <source>{0} failed</source>
        <translation>失败 {0}</translation>
    </message>
    <message>
        <source>{0} corrected</source>
        <translation>已修正 {0}</translation>
    </message>
    <message>
        <source>nothing to check</source>
        <translation>无需核对</translation>
    </message>
</context>
<context>
    <name>inventory</name>
    <message>
        <source>conversations</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>address files in work</source>
        <translation>处理中的地址文件</translation>
    </message>
    <message>
        <source>backups made before restoring</source>
        <translation>恢复前自动做的备份</translation>
    </message>
    <message>
        <source>settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>logs</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>what the server works on</source>
        <translation>服务器的工作文件</translation>
    </message>
    <message>
        <source>models added by you</source>
        <translation>你添加的模型</translation>
    </message>
</context>
<context>
    <name>phrases</name>
    <message>
        <source>no NVIDIA GPU and no Docker engine found; using the built-in Triton</source>
        <translation>未发现 NVIDIA GPU 和 Docker，使用内置 Triton</translation>
    </message>
    <message>
        <source>no NVIDIA GPU found; using the built-in Triton</source>
        <translation>未发现 NVIDIA GPU，使用内置 Triton</translation>
    </message>
    <message>
        <source>an NVIDIA GPU but no Docker engine found; using the built-in Triton on the CPU</source>
        <translation>有 NVIDIA GPU 但未发现 Docker，在 CPU 上使用内置 Triton</translation>
    </message>
    <message>
        <source>the built-in Triton needs no image; using it, on the CPU</source>
        <translation>内置 Triton 无需镜像，在 CPU 上使用它</translation>
    </message>
    <message>
        <source>chosen by the user</source>
        <translation>由用户选定</translation>
    </message>
    <message>
        <source>looking for a server</source>
        <translation>正在查找服务器</translation>
    </message>
    <message>
        <source>a server with other settings is in use ({0}); stop it first (tritalk server stop) to have this one</source>
        <translation>另一个设置不同的服务器正在使用中（{0}）；要用这一个，请先停止它（tritalk server stop）</translation>
    </message>
    <message>
        <source>starting the supervisor</source>
        <translation>正在启动守护进程</translation>
    </message>
    <message>
        <source>waiting for the previous server to stop</source>
        <translation>正在等待上一个服务器停止</translation>
    </message>
    <message>
        <source>waiting for another start to finish</source>
        <translation>正在等待另一次启动完成</translation>
    </message>
    <message>
        <source>preparing the model repository</source>
        <translation>正在准备模型仓库</translation>
    </message>
    <message>
        <source>starting Triton</source>
        <translation>正在启动 Triton</translation>
    </message>
    <message>
        <source>loading {0} ({1} of {2})</source>
        <translation>正在加载 {0}（{1}/{2}）</translation>
    </message>
    <message>
        <source>running without {0}</source>
        <translation>缺少 {0}，其余正常运行</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>restarting Triton: {0}</source>
        <translation>正在重启 Triton：{0}</translation>
    </message>
    <message>
        <source>the process of the model {0} was killed</source>
        <translation>模型 {0} 的进程被终止</translation>
    </message>
    <message>
        <source>stopping: {0}</source>
        <translation>正在停止：{0}</translation>
    </message>
    <message>
        <source>stopped: {0}</source>
        <translation>已停止：{0}</translation>
    </message>
    <message>
        <source>ended: its supervisor was killed</source>
        <translation>已结束：守护进程被终止</translation>
    </message>
    <message>
        <source>Triton failed {0} times in a row: {1}</source>
        <translation>Triton 连续 {0} 次失败：{1}</translation>
    </message>
    <message>
        <source>the message is empty; write something first</source>
        <translation>消息是空的，请先写点什么</translation>
    </message>
    <message>
        <source>the message has {0} characters; this model reads at most {1}</source>
        <translation>消息有 {0} 个字，这个模型最多读 {1} 个字</translation>
    </message>
    <message>
        <source>the reply has {0} characters already; the model has no room to go on</source>
        <translation>这条回复已有 {0} 个字，模型没有空间继续了</translation>
    </message>
    <message>
        <source>the address is empty</source>
        <translation>地址是空的</translation>
    </message>
    <message>
        <source>the address has {0} characters; at most {1} can be parsed</source>
        <translation>地址有 {0} 个字，最多可以解析 {1} 个字</translation>
    </message>
    <message>
        <source>the address holds no readable character, only control characters</source>
        <translation>地址里只有控制字符，没有可读的文字</translation>
    </message>
    <message>
        <source>the server ended the request</source>
        <translation>服务器中止了这次请求</translation>
    </message>
    <message>
        <source>the Triton server does not answer; it may be restarting</source>
        <translation>Triton 服务器没有应答，可能正在重启</translation>
    </message>
    <message>
        <source>the server&apos;s list of models is not understood</source>
        <translation>看不懂服务器的模型列表</translation>
    </message>
    <message>
        <source>the server&apos;s answer is not understood; it is another Triton or an older one</source>
        <translation>看不懂服务器的回答；它可能是别的 Triton，或者版本较旧</translation>
    </message>
    <message>
        <source>another program took the HTTP port</source>
        <translation>HTTP 端口被别的程序占用了</translation>
    </message>
    <message>
        <source>{0} is not valid Unicode text: {1}</source>
        <translation>{0} 不是有效的 Unicode 文本：{1}</translation>
    </message>
    <message>
        <source>the server is not running</source>
        <translation>服务器未在运行</translation>
    </message>
    <message>
        <source>the server did not become ready</source>
        <translation>服务器未能就绪</translation>
    </message>
    <message>
        <source>the reply broke off</source>
        <translation>回复中途断开</translation>
    </message>
    <message>
        <source>this session asks for {0}, which is not running; start it to type Chinese</source>
        <translation>当前会话指定使用 {0}，但它没有运行；启动它后才能输入中文</translation>
    </message>
    <message>
        <source>this session asks for {0}, which this Qt cannot speak to; use fcitx5 or ibus to type Chinese</source>
        <translation>当前会话指定使用 {0}，但此 Qt 无法与它通信；请改用 fcitx5 或 ibus 输入中文</translation>
    </message>
    <message>
        <source>This needs about {0} of memory, and {1} are free; close other programs, or try again to do it all the same</source>
        <translation>这大约需要 {0} 内存，现在只有 {1} 可用；请关闭其他程序，或者再试一次，仍要继续</translation>
    </message>
    <message>
        <source>the address is not {0} text</source>
        <translation>该地址不是有效的 {0} 文本</translation>
    </message>
    <message>
        <source>the server failed on this address: {0}</source>
        <translation>服务器处理该地址时出错：{0}</translation>
    </message>
    <message>
        <source>{0} is no file; check its name</source>
        <translation>找不到文件 {0}，请检查文件名</translation>
    </message>
    <message>
        <source>{0} is of no known kind; known are {1} files</source>
        <translation>无法识别 {0} 的类型，支持的有 {1}</translation>
    </message>
    <message>
        <source>{0} holds no rows</source>
        <translation>{0} 里没有数据行</translation>
    </message>
    <message>
        <source>{0} is no readable XLSX file</source>
        <translation>{0} 不是可读取的 XLSX 文件</translation>
    </message>
    <message>
        <source>{0} was changed while it was read; open it again</source>
        <translation>{0} 在读取过程中被改动，请重新打开</translation>
    </message>
    <message>
        <source>{0} is the file that is read; write to another one</source>
        <translation>{0} 就是正在读取的文件，请另选文件名</translation>
    </message>
    <message>
        <source>{0} rows do not fit into a spreadsheet; choose csv or json</source>
        <translation>{0} 行超出电子表格的上限，请改选 CSV 或 JSON</translation>
    </message>
    <message>
        <source>{0} was written by another Tritalk</source>
        <translation>{0} 由其他版本的 Tritalk 写入</translation>
    </message>
    <message>
        <source>{0} is damaged ({1})</source>
        <translation>{0} 已损坏（{1}）</translation>
    </message>
    <message>
        <source>another Tritalk is working on {0}; wait for it</source>
        <translation>另一个 Tritalk 正在处理“{0}”，请稍候</translation>
    </message>
    <message>
        <source>wait for {0}, which is in work, or cancel it first</source>
        <translation>“{0}”正在处理，请等它完成或先取消</translation>
    </message>
    <message>
        <source>Docker cannot pass a GPU into containers here (no NVIDIA Container Toolkit, or Docker from a snap, which cannot have it); {0} (Docker: {1})</source>
        <translation>Docker 在这台机器上无法把 GPU 交给容器（缺少 NVIDIA Container Toolkit，或者 Docker 是 snap 版，装不了它）；{0}（Docker：{1}）</translation>
    </message>
    <message>
        <source>The NVIDIA driver cannot be loaded for containers; {0} (Docker: {1})</source>
        <translation>容器无法加载 NVIDIA 驱动；{0}（Docker：{1}）</translation>
    </message>
    <message>
        <source>The disk of the Docker engine is full; make room (docker system prune removes what is not in use) and try again. (Docker: {0})</source>
        <translation>Docker 引擎所在的磁盘已满；请腾出空间（docker system prune 会清理不用的内容）后重试。（Docker：{0}）</translation>
    </message>
    <message>
        <source>Another program has taken the port in the meantime; try again. (Docker: {0})</source>
        <translation>端口刚刚被别的程序占用了，请重试。（Docker：{0}）</translation>
    </message>
    <message>
        <source>The image does not exist, or may not be pulled; check its name in the settings, or build it: tritalk server build (Docker: {0})</source>
        <translation>镜像不存在，或没有拉取权限；请检查设置中的镜像名，或自行构建：tritalk server build（Docker：{0}）</translation>
    </message>
    <message>
        <source>What the image is made of cannot be downloaded: no network, or it needs a proxy or a mirror; check the connection, or build from a folder of wheels (tritalk server build --help). (Docker: {0})</source>
        <translation>构建镜像所需的内容无法下载：没有网络，或者需要代理或镜像源；请检查网络，或用本地 wheel 文件夹构建（见 tritalk server build --help）。（Docker：{0}）</translation>
    </message>
    <message>
        <source>You may not use the Docker engine at {0}; run: sudo usermod -aG docker $USER, then log in again</source>
        <translation>你没有权限使用 {0} 上的 Docker 引擎；请运行 sudo usermod -aG docker $USER，然后重新登录</translation>
    </message>
    <message>
        <source>only Docker serves on a GPU</source>
        <translation>只有 Docker 能使用 GPU</translation>
    </message>
    <message>
        <source>an NVIDIA GPU and a Docker engine found</source>
        <translation>发现 NVIDIA GPU 和 Docker</translation>
    </message>
    <message>
        <source>the built-in Triton cannot run here ({0})</source>
        <translation>内置 Triton 无法在这台机器上运行（{0}）</translation>
    </message>
    <message>
        <source>a container was kept running</source>
        <translation>有一个保持运行的容器</translation>
    </message>
    <message>
        <source>{0}; using the built-in Triton</source>
        <translation>{0}；改用内置 Triton</translation>
    </message>
    <message>
        <source>{0}; on the CPU: {1}</source>
        <translation>{0}；在 CPU 上运行：{1}</translation>
    </message>
    <message>
        <source>{0}; on the GPU: {1}</source>
        <translation>{0}；在 GPU 上运行：{1}</translation>
    </message>
    <message>
        <source>no NVIDIA GPU found</source>
        <translation>未发现 NVIDIA GPU</translation>
    </message>
    <message>
        <source>preparing</source>
        <translation>正在准备</translation>
    </message>
    <message>
        <source>looking for a Docker engine</source>
        <translation>正在查找 Docker 引擎</translation>
    </message>
    <message>
        <source>looking for the GPU inside a container</source>
        <translation>正在检查容器内能否看到 GPU</translation>
    </message>
    <message>
        <source>CPU image: {0}</source>
        <translation>CPU 镜像：{0}</translation>
    </message>
    <message>
        <source>GPU image: {0}</source>
        <translation>GPU 镜像：{0}</translation>
    </message>
    <message>
        <source>sending {0} of {1} to Docker</source>
        <translation>正在向 Docker 发送构建内容，{0}/{1}</translation>
    </message>
    <message>
        <source>pulling: {0} of {1}, {2} of {3} layers</source>
        <translation>正在拉取：{0}/{1}，{2}/{3} 层</translation>
    </message>
    <message>
        <source>building: step {0} of {1} ({2})</source>
        <translation>正在构建：第 {0}/{1} 步（{2}）</translation>
    </message>
    <message>
        <source>connecting to {0}</source>
        <translation>正在连接 {0}</translation>
    </message>
    <message>
        <source>not ready</source>
        <translation>尚未就绪</translation>
    </message>
    <message>
        <source>it was stopped in the window</source>
        <translation>在窗口中停止</translation>
    </message>
    <message>
        <source>it is restarted</source>
        <translation>重启</translation>
    </message>
    <message>
        <source>the start was cancelled</source>
        <translation>已取消启动</translation>
    </message>
    <message>
        <source>tritalk server stop</source>
        <translation>tritalk server stop</translation>
    </message>
    <message>
        <source>it failed</source>
        <translation>出错</translation>
    </message>
    <message>
        <source>it was told to stop</source>
        <translation>收到停止信号</translation>
    </message>
    <message>
        <source>nobody needs the server any more</source>
        <translation>已没有程序在使用服务器</translation>
    </message>
    <message>
        <source>a server with other settings takes its place</source>
        <translation>由设置不同的服务器接替</translation>
    </message>
    <message>
        <source>tritonserver {0}</source>
        <translation>tritonserver {0}</translation>
    </message>
    <message>
        <source>tritonserver {0} ({1})</source>
        <translation>tritonserver {0}（{1}）</translation>
    </message>
    <message>
        <source>ended with exit status {0}</source>
        <translation>已退出，退出码 {0}</translation>
    </message>
    <message>
        <source>was killed by {0}</source>
        <translation>被 {0} 终止</translation>
    </message>
    <message>
        <source>was killed by signal {0}</source>
        <translation>被信号 {0} 终止</translation>
    </message>
    <message>
        <source>tritonserver did not answer within {0} seconds</source>
        <translation>tritonserver 在 {0} 秒内没有应答</translation>
    </message>
    <message>
        <source>the container {0}</source>
        <translation>容器{0}</translation>
    </message>
    <message>
        <source>the server did not answer ({0})</source>
        <translation>服务器没有应答（{0}）</translation>
    </message>
    <message>
        <source>HTTP status {0}</source>
        <translation>HTTP 状态码 {0}</translation>
    </message>
    <message>
        <source>There is no launcher {0}; choose one of: {1}</source>
        <translation>没有 {0} 这种运行方式；可选：{1}</translation>
    </message>
    <message>
        <source>The server listens on unix or tcp, not on {0}</source>
        <translation>服务器只能监听 unix 或 tcp，不能是 {0}</translation>
    </message>
    <message>
        <source>The device is auto, gpu or cpu, not {0}</source>
        <translation>设备只能是 auto、gpu 或 cpu，不能是 {0}</translation>
    </message>
    <message>
        <source>No model can be served ({0})</source>
        <translation>没有可以提供服务的模型（{0}）</translation>
    </message>
    <message>
        <source>{0} is empty</source>
        <translation>{0} 是空的</translation>
    </message>
    <message>
        <source>An older server is still stopping after {0} seconds (its folder is {1}); try again, or end its supervisor</source>
        <translation>上一个服务器过了 {0} 秒仍未停止（其文件夹为 {1}）；请重试，或结束它的守护进程</translation>
    </message>
    <message>
        <source>The server&apos;s supervisor did not start ({0}); see {1}</source>
        <translation>服务器的守护进程未能启动（{0}）；详见 {1}</translation>
    </message>
    <message>
        <source>The server does not stop within {0} seconds</source>
        <translation>服务器在 {0} 秒内没有停止</translation>
    </message>
    <message>
        <source>Another start of the server does not finish; try again</source>
        <translation>另一次启动一直没有完成，请重试</translation>
    </message>
    <message>
        <source>The supervisor failed ({0}); see tritalk server logs</source>
        <translation>守护进程出错（{0}）；详见 tritalk server logs</translation>
    </message>
    <message>
        <source>A server is already running on Unix sockets; stop it first (tritalk server stop) to have one on TCP</source>
        <translation>已有服务器在 Unix 套接字上运行；要用 TCP，请先停止它（tritalk server stop）</translation>
    </message>
    <message>
        <source>The server was not ready within {0} seconds (still {1}); see: tritalk server logs</source>
        <translation>服务器在 {0} 秒内没有就绪（仍在：{1}）；详见 tritalk server logs</translation>
    </message>
    <message>
        <source>The server stopped: {0}</source>
        <translation>服务器已停止：{0}</translation>
    </message>
    <message>
        <source>The server was stopped</source>
        <translation>服务器已停止</translation>
    </message>
    <message>
        <source>The server ended: its supervisor was killed</source>
        <translation>服务器已结束：守护进程被终止</translation>
    </message>
    <message>
        <source>The server ended before it could be kept</source>
        <translation>服务器在设为保持运行之前就结束了</translation>
    </message>
    <message>
        <source>The built-in Triton serves on the CPU; a GPU needs Docker (--launcher docker)</source>
        <translation>内置 Triton 只在 CPU 上运行；要用 GPU，请选 Docker（--launcher docker）</translation>
    </message>
    <message>
        <source>The built-in Triton runs on Linux (x86_64 or aarch64) only; install Docker or enter the address of a Triton server instead</source>
        <translation>内置 Triton 只能在 Linux（x86_64 或 aarch64）上运行；请安装 Docker，或填写一台 Triton 服务器的地址</translation>
    </message>
    <message>
        <source>The built-in Triton needs glibc 2.35 or newer (found: {0}); use Debian 12, Ubuntu 22.04 or newer, or Docker</source>
        <translation>内置 Triton 需要 glibc 2.35 或更新版本（当前：{0}）；请使用 Debian 12、Ubuntu 22.04 或更新的系统，或使用 Docker</translation>
    </message>
    <message>
        <source>The models run in Python 3.11 or 3.12 (numpy 1.26), and this is {0}; install python3.11 and run: make setup</source>
        <translation>模型要求 Python 3.11 或 3.12（numpy 1.26），当前是 {0}；请安装 python3.11，然后运行 make setup</translation>
    </message>
    <message>
        <source>The package nvidia-pytriton, which holds the Triton server, is not installed; run: pip install &apos;tritalk[server]&apos; (or: make setup)</source>
        <translation>没有安装 nvidia-pytriton（Triton 服务器在其中）；请运行 pip install &apos;tritalk[server]&apos;（或 make setup）</translation>
    </message>
    <message>
        <source>This edition of Tritalk has no built-in Triton; install Docker, enter the address of a Triton server, or install the full edition</source>
        <translation>此版本的 Tritalk 不含内置 Triton；请安装 Docker、填写一台 Triton 服务器的地址，或安装完整版</translation>
    </message>
    <message>
        <source>The nvidia-pytriton package is incomplete ({0} is missing); run: pip install --force-reinstall nvidia-pytriton</source>
        <translation>nvidia-pytriton 包不完整（缺少 {0}）；请运行 pip install --force-reinstall nvidia-pytriton</translation>
    </message>
    <message>
        <source>The shared library {0} is missing; run: sudo apt install libpython{1} (or build Python with --enable-shared)</source>
        <translation>缺少共享库 {0}；请运行 sudo apt install libpython{1}（或用 --enable-shared 编译 Python）</translation>
    </message>
    <message>
        <source>The package docker, which speaks with the engine, is not installed; run: pip install docker</source>
        <translation>没有安装与引擎通信所需的 docker 包；请运行 pip install docker</translation>
    </message>
    <message>
        <source>The Docker context cannot be used ({0}); see: docker context ls</source>
        <translation>无法使用当前的 Docker context（{0}）；请查看 docker context ls</translation>
    </message>
    <message>
        <source>No Docker engine is at {0}; install Docker (https://docs.docker.com/get-docker) and start it, or use the built-in Triton (--launcher embedded)</source>
        <translation>{0} 上没有 Docker 引擎；请安装并启动 Docker（https://docs.docker.com/get-docker），或改用内置 Triton（--launcher embedded）</translation>
    </message>
    <message>
        <source>The Docker engine at {0} was stopped; start it (sudo systemctl start docker, or open Docker Desktop) and then the server again, or use the built-in Triton (--launcher embedded)</source>
        <translation>{0} 上的 Docker 引擎已停止；请启动它（sudo systemctl start docker，或打开 Docker Desktop），再启动服务器，或改用内置 Triton（--launcher embedded）</translation>
    </message>
    <message>
        <source>The Docker engine at {0} does not answer; start Docker (sudo systemctl start docker, or open Docker Desktop), or use the built-in Triton (--launcher embedded)</source>
        <translation>{0} 上的 Docker 引擎没有应答；请启动 Docker（sudo systemctl start docker，或打开 Docker Desktop），或改用内置 Triton（--launcher embedded）</translation>
    </message>
    <message>
        <source>The Docker engine at {0} is on another machine, where the application&apos;s folders are not; choose a local one, or enter a Triton server&apos;s address instead</source>
        <translation>{0} 上的 Docker 引擎在另一台机器上，访问不到本应用的文件夹；请选用本机的引擎，或改填一台 Triton 服务器的地址</translation>
    </message>
    <message>
        <source>The Docker engine at {0} is on another machine, where the application&apos;s folders are not; choose a local one, or enter a Triton server&apos;s address instead (--launcher remote)</source>
        <translation>{0} 上的 Docker 引擎在另一台机器上，访问不到本应用的文件夹；请选用本机的引擎，或改填一台 Triton 服务器的地址（--launcher remote）</translation>
    </message>
    <message>
        <source>The Docker engine at {0} speaks another version of its API ({1})</source>
        <translation>{0} 上的 Docker 引擎使用的 API 版本不同（{1}）</translation>
    </message>
    <message>
        <source>The Docker engine at {0} cannot be trusted ({1}); check DOCKER_CERT_PATH and DOCKER_TLS_VERIFY</source>
        <translation>{0} 上的 Docker 引擎不可信（{1}）；请检查 DOCKER_CERT_PATH 和 DOCKER_TLS_VERIFY</translation>
    </message>
    <message>
        <source>install the NVIDIA Container Toolkit (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/), run: sudo nvidia-ctk runtime configure --runtime=docker &amp;&amp; sudo systemctl restart docker – or start on the CPU (--device cpu)</source>
        <translation>请安装 NVIDIA Container Toolkit（https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/），再运行 sudo nvidia-ctk runtime configure --runtime=docker &amp;&amp; sudo systemctl restart docker，或改在 CPU 上启动（--device cpu）</translation>
    </message>
    <message>
        <source>install or update the driver (under WSL: the Windows driver, and none inside WSL) and check it with nvidia-smi – or start on the CPU (--device cpu)</source>
        <translation>请安装或更新驱动（在 WSL 下要装 Windows 端的驱动，WSL 里不要装），并用 nvidia-smi 检查，或改在 CPU 上启动（--device cpu）</translation>
    </message>
    <message>
        <source>Docker knows no NVIDIA GPU by CDI; run: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml – or {0} (Docker: {1})</source>
        <translation>Docker 通过 CDI 找不到 NVIDIA GPU；请运行 sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml，或者：{0}（Docker：{1}）</translation>
    </message>
    <message>
        <source>The NVIDIA driver is too old for the image&apos;s CUDA; update the driver, or start on the CPU (--device cpu). (Docker: {0})</source>
        <translation>NVIDIA 驱动太旧，不支持镜像所用的 CUDA；请更新驱动，或改在 CPU 上启动（--device cpu）。（Docker：{0}）</translation>
    </message>
    <message>
        <source>Docker accepts the request for a GPU, but inside the container none is visible ({0}); check nvidia-smi and the NVIDIA Container Toolkit, or start on the CPU (--device cpu)</source>
        <translation>Docker 接受了 GPU 请求，但容器内看不到 GPU（{0}）；请检查 nvidia-smi 和 NVIDIA Container Toolkit，或改在 CPU 上启动（--device cpu）</translation>
    </message>
    <message>
        <source>the driver counts none</source>
        <translation>驱动报告的 GPU 数为零</translation>
    </message>
    <message>
        <source>Docker Desktop may not share the application&apos;s folders; add them in its settings under Resources, File sharing. (Docker: {0})</source>
        <translation>Docker Desktop 无权共享本应用的文件夹；请在它的设置 Resources → File sharing 中添加。（Docker：{0}）</translation>
    </message>
    <message>
        <source>A container of that name is in the way; run: tritalk server stop, and try again. (Docker: {0})</source>
        <translation>已有同名容器；请运行 tritalk server stop 后重试。（Docker：{0}）</translation>
    </message>
    <message>
        <source>The registry demands a login; run: docker login, and try again. (Docker: {0})</source>
        <translation>镜像仓库要求登录；请运行 docker login 后重试。（Docker：{0}）</translation>
    </message>
    <message>
        <source>The image is not made for this machine&apos;s processor; choose another in the settings, or build it here: tritalk server build (Docker: {0})</source>
        <translation>镜像不支持这台机器的处理器；请在设置中换一个，或在本机构建：tritalk server build（Docker：{0}）</translation>
    </message>
    <message>
        <source>pip does not find a package of the image; check the package index, or the folder of wheels, in the settings. (Docker: {0})</source>
        <translation>pip 找不到镜像所需的某个包；请检查设置中的软件包索引或 wheel 文件夹。（Docker：{0}）</translation>
    </message>
    <message>
        <source>A certificate is not trusted; give your organisation&apos;s CA file (tritalk server build --ca-file FILE). (Docker: {0})</source>
        <translation>证书不受信任；请提供你所在机构的 CA 文件（tritalk server build --ca-file FILE）。（Docker：{0}）</translation>
    </message>
    <message>
        <source>The image holds no Triton server; choose another in the settings, or build one: tritalk server build (Docker: {0})</source>
        <translation>镜像里没有 Triton 服务器；请在设置中换一个，或自行构建：tritalk server build（Docker：{0}）</translation>
    </message>
    <message>
        <source>A folder that the server needs does not exist for the Docker engine; is the engine on another machine? Use its address as a remote server instead. (Docker: {0})</source>
        <translation>Docker 引擎看不到服务器所需的某个文件夹；引擎是否在另一台机器上？如果是，请把它的地址作为远程服务器使用。（Docker：{0}）</translation>
    </message>
    <message>
        <source>The memory limit in the settings is too small for a container; raise it. (Docker: {0})</source>
        <translation>设置中的内存上限对容器来说太小，请调大。（Docker：{0}）</translation>
    </message>
    <message>
        <source>Triton releases before 26.07 are not supported; choose 26.07 or newer. (Docker: {0})</source>
        <translation>不支持 26.07 之前的 Triton 版本；请选择 26.07 或更新版本。（Docker：{0}）</translation>
    </message>
    <message>
        <source>Docker failed while {0}: {1}</source>
        <translation>Docker 在“{0}”时出错：{1}</translation>
    </message>
    <message>
        <source>starting the container</source>
        <translation>启动容器</translation>
    </message>
    <message>
        <source>looking for older containers</source>
        <translation>查找旧容器</translation>
    </message>
    <message>
        <source>looking for the image</source>
        <translation>查找镜像</translation>
    </message>
    <message>
        <source>pulling the image</source>
        <translation>拉取镜像</translation>
    </message>
    <message>
        <source>building the image</source>
        <translation>构建镜像</translation>
    </message>
    <message>
        <source>building</source>
        <translation>构建</translation>
    </message>
    <message>
        <source>asking for a GPU</source>
        <translation>申请 GPU</translation>
    </message>
    <message>
        <source>creating the container</source>
        <translation>创建容器</translation>
    </message>
    <message>
        <source>the build ended without an image</source>
        <translation>构建结束但没有得到镜像</translation>
    </message>
    <message>
        <source>The image has the targets cpu and gpu, not {0}</source>
        <translation>镜像的目标只有 cpu 和 gpu，没有 {0}</translation>
    </message>
    <message>
        <source>The CA file {0} does not exist</source>
        <translation>CA 文件 {0} 不存在</translation>
    </message>
    <message>
        <source>There are no wheels (*.whl) in {0}</source>
        <translation>{0} 中没有 wheel 文件（*.whl）</translation>
    </message>
    <message>
        <source>The Triton release is a year and month such as 26.07, and not older than that: {0} is not</source>
        <translation>Triton 版本要写成年月，例如 26.07，且不能更旧：{0} 不行</translation>
    </message>
    <message>
        <source>No address of a remote Triton is set; put it into the settings (remote.url) or TRITALK_REMOTE_URL, such as grpc://triton.example.org:8001</source>
        <translation>没有设置远程 Triton 的地址；请在设置（remote.url）或 TRITALK_REMOTE_URL 中填写，例如 grpc://triton.example.org:8001</translation>
    </message>
    <message>
        <source>{0} is no address of a Triton server; write grpc://host:8001 (grpcs:// with TLS) or http://host:8000 (https:// with TLS), without a path</source>
        <translation>{0} 不是 Triton 服务器的地址；请写成 grpc://主机:8001（用 TLS 则为 grpcs://）或 http://主机:8000（用 TLS 则为 https://），不带路径</translation>
    </message>
    <message>
        <source>A CA file is set, but {0} is an address without TLS (grpcs://)</source>
        <translation>已设置 CA 文件，但 {0} 不是 TLS 地址（grpcs://）</translation>
    </message>
    <message>
        <source>The Triton server at {0} does not answer; is it running, and is the address right? ({1})</source>
        <translation>{0} 上的 Triton 服务器没有应答；它在运行吗，地址对吗？（{1}）</translation>
    </message>
    <message>
        <source>The Triton server at {0} cannot be trusted, or speaks no TLS; give the CA file that signed its certificate (remote.ca_file). ({1})</source>
        <translation>{0} 上的 Triton 服务器不可信，或不使用 TLS；请提供签发其证书的 CA 文件（remote.ca_file）。（{1}）</translation>
    </message>
    <message>
        <source>The Triton server at {0} speaks TLS; write its address with grpcs://</source>
        <translation>{0} 上的 Triton 服务器使用 TLS；请把地址写成 grpcs://</translation>
    </message>
    <message>
        <source>The Triton server at {0} refuses the access token; check remote.token and remote.header</source>
        <translation>{0} 上的 Triton 服务器拒绝了访问令牌；请检查 remote.token 和 remote.header</translation>
    </message>
    <message>
        <source>The Triton server at {0} is unknown to the network; check the address (remote.url)</source>
        <translation>网络中找不到 {0}；请检查地址（remote.url）</translation>
    </message>
    <message>
        <source>The Triton server at {0} does not answer in time; check the address and the firewall</source>
        <translation>{0} 上的 Triton 服务器没有及时应答；请检查地址和防火墙</translation>
    </message>
    <message>
        <source>{0} cannot be read ({1}); mend or remove it</source>
        <translation>无法读取 {0}（{1}）；请修正或删除它</translation>
    </message>
    <message>
        <source>{0} does not hold a JSON object; mend or remove it</source>
        <translation>{0} 的内容不是 JSON 对象；请修正或删除它</translation>
    </message>
    <message>
        <source>{0}: there is no setting {1}</source>
        <translation>{0}：没有 {1} 这个设置</translation>
    </message>
    <message>
        <source>{0}: {1} is a JSON object</source>
        <translation>{0}：{1} 应是 JSON 对象</translation>
    </message>
    <message>
        <source>{0} is one of {1}, not {2}</source>
        <translation>{0} 只能是 {1} 之一，不能是 {2}</translation>
    </message>
    <message>
        <source>{0} is true or false, not {1}</source>
        <translation>{0} 只能是 true 或 false，不能是 {1}</translation>
    </message>
    <message>
        <source>{0} is a text, not {1}</source>
        <translation>{0} 应是文本，不能是 {1}</translation>
    </message>
    <message>
        <source>{0} holds no numbers: {1}</source>
        <translation>{0} 中不是数字：{1}</translation>
    </message>
    <message>
        <source>{0} is a list of numbers such as [0, 1], not {1}</source>
        <translation>{0} 应是数字列表，例如 [0, 1]，不能是 {1}</translation>
    </message>
    <message>
        <source>{0} gives each model a number from 1, not {1}</source>
        <translation>{0} 要为每个模型给出从 1 起的数字，不能是 {1}</translation>
    </message>
    <message>
        <source>the server does not have the model ready: {0}</source>
        <translation>服务器上的模型尚未就绪：{0}</translation>
    </message>
    <message>
        <source>the server does not tell its models</source>
        <translation>服务器没有给出模型列表</translation>
    </message>
    <message>
        <source>{0} could not be loaded: {1}</source>
        <translation>无法加载 {0}：{1}</translation>
    </message>
    <message>
        <source>{0} could not be unloaded: {1}</source>
        <translation>无法卸载 {0}：{1}</translation>
    </message>
    <message>
        <source>this server was not started with --model-control-mode=explicit</source>
        <translation>这台服务器启动时没有使用 --model-control-mode=explicit</translation>
    </message>
    <message>
        <source>this server demands a key for it</source>
        <translation>这台服务器要求密钥才能这样做</translation>
    </message>
    <message>
        <source>the server does not answer</source>
        <translation>服务器没有应答</translation>
    </message>
    <message>
        <source>this server tells no metrics</source>
        <translation>这台服务器不提供指标</translation>
    </message>
    <message>
        <source>the server&apos;s metrics do not answer</source>
        <translation>服务器的指标没有应答</translation>
    </message>
    <message>
        <source>the server&apos;s metrics answered with HTTP status {0}</source>
        <translation>读取服务器指标时返回 HTTP 状态码 {0}</translation>
    </message>
    <message>
        <source>the conversation does not exist any more</source>
        <translation>这个对话已不存在</translation>
    </message>
    <message>
        <source>the file&apos;s name must end in {0}</source>
        <translation>文件名应以 {0} 结尾</translation>
    </message>
    <message>
        <source>{0} cannot be written: {1}</source>
        <translation>无法写入 {0}：{1}</translation>
    </message>
    <message>
        <source>{0} cannot be read: {1}</source>
        <translation>无法读取 {0}：{1}</translation>
    </message>
    <message>
        <source>{0} holds no UTF-8 text</source>
        <translation>{0} 不是 UTF-8 文本</translation>
    </message>
    <message>
        <source>the file is no JSON</source>
        <translation>这个文件不是 JSON</translation>
    </message>
    <message>
        <source>the file holds no conversation exported by Tritalk</source>
        <translation>这个文件不是 Tritalk 导出的对话</translation>
    </message>
    <message>
        <source>the file was written by a newer Tritalk</source>
        <translation>这个文件来自更新版本的 Tritalk</translation>
    </message>
    <message>
        <source>the file is damaged ({0})</source>
        <translation>文件已损坏（{0}）</translation>
    </message>
    <message>
        <source>the file is no backup made by Tritalk</source>
        <translation>该文件不是 Tritalk 的备份</translation>
    </message>
    <message>
        <source>the backup was made by a newer Tritalk</source>
        <translation>该备份由更新版本的 Tritalk 制作</translation>
    </message>
    <message>
        <source>the backup is damaged ({0})</source>
        <translation>备份已损坏（{0}）</translation>
    </message>
    <message>
        <source>a file is missing or twice there</source>
        <translation>缺少文件或文件重复</translation>
    </message>
    <message>
        <source>{0} has another size</source>
        <translation>{0} 的大小不符</translation>
    </message>
    <message>
        <source>{0} has another checksum</source>
        <translation>{0} 的校验和不符</translation>
    </message>
    <message>
        <source>{0} has other tables</source>
        <translation>{0} 的表结构不符</translation>
    </message>
    <message>
        <source>the backup holds a file that does not belong there: {0}</source>
        <translation>备份中有不该有的文件：{0}</translation>
    </message>
    <message>
        <source>restoring takes {0} MiB; {1} MiB are free</source>
        <translation>恢复需要 {0} MiB 空间，目前只剩 {1} MiB</translation>
    </message>
    <message>
        <source>the address begins with https:// or http:// and names a server</source>
        <translation>地址须以 https:// 或 http:// 开头，并写明服务器</translation>
    </message>
    <message>
        <source>the address holds no name and no password</source>
        <translation>地址中不能有用户名或密码</translation>
    </message>
    <message>
        <source>{0} answered with status {1}</source>
        <translation>{0} 返回状态 {1}</translation>
    </message>
    <message>
        <source>{0} does not answer</source>
        <translation>{0} 没有应答</translation>
    </message>
    <message>
        <source>{0} answered something that is no list of releases</source>
        <translation>{0} 返回的不是版本列表</translation>
    </message>
    <message>
        <source>asking the hub for {0}</source>
        <translation>正在向 Hugging Face 查询 {0}</translation>
    </message>
    <message>
        <source>downloading {0}</source>
        <translation>正在下载 {0}</translation>
    </message>
    <message>
        <source>checking {0}</source>
        <translation>正在校验 {0}</translation>
    </message>
    <message>
        <source>looking at the files</source>
        <translation>正在查看文件</translation>
    </message>
    <message>
        <source>reading {0}</source>
        <translation>正在读取 {0}</translation>
    </message>
    <message>
        <source>reading the tokenizer</source>
        <translation>正在读取分词器</translation>
    </message>
    <message>
        <source>reading the weights</source>
        <translation>正在读取权重</translation>
    </message>
    <message>
        <source>writing the weights</source>
        <translation>正在写入权重</translation>
    </message>
    <message>
        <source>comparing with transformers</source>
        <translation>正在与 transformers 的结果比对</translation>
    </message>
    <message>
        <source>comparing the prompts with transformers</source>
        <translation>正在与 transformers 比对提示词</translation>
    </message>
    <message>
        <source>comparing the replies with transformers</source>
        <translation>正在与 transformers 比对输出</translation>
    </message>
    <message>
        <source>putting it in place</source>
        <translation>正在放入模型目录</translation>
    </message>
    <message>
        <source>cancelling</source>
        <translation>正在取消</translation>
    </message>
    <message>
        <source>there is no folder {0}, and it is no name on the hub, such as {1}</source>
        <translation>没有文件夹 {0}，它也不是 Hugging Face 上的名称（例如 {1}）</translation>
    </message>
    <message>
        <source>a model&apos;s name is made of 1 to 64 small letters, digits, dots and hyphens, not {0}</source>
        <translation>模型名称由 1 至 64 个小写字母、数字、点和连字符组成，不能是 {0}</translation>
    </message>
    <message>
        <source>{0} is taken by the server itself; give it another name</source>
        <translation>{0} 是服务器自己使用的名称，请换一个</translation>
    </message>
    <message>
        <source>there is a model {0} already; remove it first, or give this one another name</source>
        <translation>已经有名为 {0} 的模型，请先删除它，或给新模型换个名称</translation>
    </message>
    <message>
        <source>{0} is missing from {1}</source>
        <translation>{1} 中缺少 {0}</translation>
    </message>
    <message>
        <source>{0} has neither model.safetensors nor pytorch_model.bin</source>
        <translation>{0} 中既没有 model.safetensors，也没有 pytorch_model.bin</translation>
    </message>
    <message>
        <source>the file {0} is damaged or cut off: {1}</source>
        <translation>文件 {0} 已损坏或不完整：{1}</translation>
    </message>
    <message>
        <source>the file {0} wants to run code when it is read; only plain tensors are accepted, so it was not read</source>
        <translation>文件 {0} 在读取时会运行代码；这里只接受纯张量，因此没有读取</translation>
    </message>
    <message>
        <source>the file {0} arrived damaged (its checksum is wrong); try again</source>
        <translation>下载的文件 {0} 已损坏（校验和不符），请重试</translation>
    </message>
    <message>
        <source>{0}: {1} must be a whole number from {2} to {3}, not {4}</source>
        <translation>{0}：{1} 必须是 {2} 到 {3} 之间的整数，不能是 {4}</translation>
    </message>
    <message>
        <source>{0}: {1} must be one of {2}, not {3}</source>
        <translation>{0}：{1} 只能是 {2} 之一，不能是 {3}</translation>
    </message>
    <message>
        <source>{0}: {1} is no entry; known are {2}</source>
        <translation>{0}：没有 {1} 这一项，可用的有 {2}</translation>
    </message>
    <message>
        <source>{0}: two special ids of [vocabulary] are the same</source>
        <translation>{0}：[vocabulary] 中有两个特殊编号相同</translation>
    </message>
    <message>
        <source>{0}, [sampling]: {1} must be from {2} to {3}, not {4}</source>
        <translation>{0} 的 [sampling]：{1} 必须在 {2} 到 {3} 之间，不能是 {4}</translation>
    </message>
    <message>
        <source>there is no imported chat model {0}</source>
        <translation>没有名为 {0} 的已导入聊天模型</translation>
    </message>
    <message>
        <source>{0} is being downloaded already</source>
        <translation>{0} 已在下载中</translation>
    </message>
    <message>
        <source>the model has no chat template, so it was not made for chats (and it has no vocab.txt of CDial-GPT or GPT2-chitchat either)</source>
        <translation>这个模型没有对话模板，不是用来聊天的（也没有 CDial-GPT 或 GPT2-chitchat 的 vocab.txt）</translation>
    </message>
    <message>
        <source>this model needs program code of its own, which is not run here</source>
        <translation>这个模型需要运行它自带的程序代码，这里不会运行</translation>
    </message>
    <message>
        <source>config.json: {0} is {1}; from 1 to {2} is possible</source>
        <translation>config.json：{0} 的值是 {1}，只能在 1 到 {2} 之间</translation>
    </message>
    <message>
        <source>the disk of {0} is full; make room and try again</source>
        <translation>{0} 所在的磁盘已满，请腾出空间后重试</translation>
    </message>
    <message>
        <source>the model needs {0} of disk space while it is imported, but {1} are free at {2}</source>
        <translation>导入这个模型需要 {0} 磁盘空间，但 {2} 只剩 {1}</translation>
    </message>
    <message>
        <source>there is no model {0} at {1}, or it is private</source>
        <translation>{1} 上没有模型 {0}，或者它不公开</translation>
    </message>
    <message>
        <source>the download from {0} broke off ({1}); try again, what has arrived is kept</source>
        <translation>从 {0} 的下载中断了（{1}）；请重试，已下载的部分会保留</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Something went wrong: {0}</source>
        <translation>出错了：{0}</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>Degraded</source>
        <translation>部分可用</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>启动失败</translation>
    </message>
    <message>
        <source>embedded Triton</source>
        <translation>内置 Triton</translation>
    </message>
    <message>
        <source>Triton in Docker</source>
        <translation>Docker 中的 Triton</translation>
    </message>
    <message>
        <source>remote Triton</source>
        <translation>远程 Triton</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>正在加载</translation>
    </message>
    <message>
        <source>unloading</source>
        <translation>正在卸载</translation>
    </message>
    <message>
        <source>unavailable</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>The file of your conversations is damaged. It was kept as {0}, and a new one begun.</source>
        <translation>对话文件已损坏。原文件保留为 {0}，并新建了一个文件。</translation>
    </message>
    <message>
        <source>Your conversations were written by a newer Tritalk. They were kept as {0}, and a new file begun.</source>
        <translation>对话文件来自更新版本的 Tritalk。原文件保留为 {0}，并新建了一个文件。</translation>
    </message>
    <message>
        <source>Conversations cannot be saved ({0}); they last until you close the window.</source>
        <translation>无法保存对话（{0}），关闭窗口后对话会丢失。</translation>
    </message>
    <message>
        <source>Saving failed ({0}); it is tried again as long as the window is open.</source>
        <translation>保存失败（{0}），窗口打开期间会继续尝试。</translation>
    </message>
</context>
</TS>
