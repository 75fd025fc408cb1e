<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en_US">
<context>
    <name>AddressPage</name>
    <message>
        <source>Addresses</source>
        <translation>地址解析</translation>
    </message>
    <message>
        <source>Paste and parse</source>
        <translation>粘贴并解析</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>清空</translation>
    </message>
    <message>
        <source>A Chinese address</source>
        <translation>输入一个中文地址</translation>
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
        <translation>试试示例地址</translation>
    </message>
    <message>
        <source>Entities</source>
        <translation>地址要素</translation>
    </message>
    <message>
        <source>No entity was found in the text.</source>
        <translation>文中没有识别出地址要素。</translation>
    </message>
    <message>
        <source>The server is not running; see the server page.</source>
        <translation>服务器未在运行，详见“服务器”页。</translation>
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
        <source>The clipboard holds {count} lines; copy one address. In the terminal, `tritalk parse -` reads a whole list.</source>
        <translation>剪贴板里有 {count} 行，请只复制一个地址。整份列表可在终端用 `tritalk parse -` 解析。</translation>
    </message>
    <message>
        <source>The server is starting; the address is parsed as soon as it is ready.</source>
        <translation>服务器正在启动，就绪后会立即解析这个地址。</translation>
    </message>
    <message>
        <source>Parsing…</source>
        <translation>正在解析…</translation>
    </message>
    <message>
        <source>Type an address; it is parsed when you pause.</source>
        <translation>输入一个地址，停顿片刻即自动解析。</translation>
    </message>
</context>
<context>
    <name>ChatPage</name>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Draw a line: the model no longer sees the messages above it (Ctrl+N)</source>
        <translation>另起一段：模型不再参考上面的消息（Ctrl+N）</translation>
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
    <name>Composer</name>
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
        <extracomment>A message was not answered: the sentence to show, and the text to give back to the composer. ``None`` leaves every parameter to the model.</extracomment>
        <translation>请先输入消息。</translation>
    </message>
    <message>
        <source>The server is not running; see the server page.</source>
        <translation>服务器未在运行，详见“服务器”页。</translation>
    </message>
    <message>
        <source>Stopped before the reply began.</source>
        <translation>已在回复开始前停止。</translation>
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
        <source>Other candidates</source>
        <translation>其他可能</translation>
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
    <name>MessageDelegate</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <extracomment>Shown in place of a reply that has no token yet.</extracomment>
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
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
</context>
<context>
    <name>MessageView</name>
    <message>
        <source>Copy</source>
        <extracomment>A token to explain: the token, its number from 1, its rectangle in the viewport. The text column moved: the viewport&apos;s new width.</extracomment>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>复制整条消息</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
</context>
<context>
    <name>ProbabilityLegend</name>
    <message>
        <source>Probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>low</source>
        <translation>低</translation>
    </message>
    <message>
        <source>high</source>
        <translation>高</translation>
    </message>
    <message>
        <source>The probability of each token; from {0} up it has no tint, below {1} it is also underlined with dots.</source>
        <translation>每个字的概率：不低于 {0} 时不着色，低于 {1} 时另加点线。</translation>
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
    <name>ServerPage</name>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>重新启动</translation>
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
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>概况</translation>
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
</context>
<context>
    <name>TokenPopover</name>
    <message>
        <source>(end)</source>
        <translation>（结束）</translation>
    </message>
    <message>
        <source>“{0}” token {1}</source>
        <translation>“{0}” 第 {1} 字</translation>
    </message>
    <message>
        <source>confidence {0} · probability {1}</source>
        <translation>把握 {0} · 概率 {1}</translation>
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
</context>
</TS>
