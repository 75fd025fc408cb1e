<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en_US">
<context>
    <name>ConversationActions</name>
    <message numerus="yes">
        <source>%n message(s) deleted.</source>
        <translation>
            <numerusform>%n message deleted.</numerusform>
            <numerusform>%n messages deleted.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LogView</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{0} of %n line(s)</source>
        <translation>
            <numerusform>{0} of %n line</numerusform>
            <numerusform>{0} of %n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MessageDelegate</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n oldest turn(s) left out</source>
        <translation>
            <numerusform>%n oldest turn left out</numerusform>
            <numerusform>%n oldest turns left out</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PersonaCard</name>
    <message numerus="yes">
        <source>%n turn(s) before every message</source>
        <translation>
            <numerusform>%n turn before every message</numerusform>
            <numerusform>%n turns before every message</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SamplingPanel</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <extracomment>The vocabulary&apos;s size and the context bound two of them; these hold until the server has told those of its model. What a preset sets; the rest (length, seed, history) stays as the person has it.</extracomment>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
</context>
</TS>
