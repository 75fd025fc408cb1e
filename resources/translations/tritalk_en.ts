<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en_US">
<context>
    <name>ChatPage</name>
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
            <numerusform>the oldest turn left out</numerusform>
            <numerusform>%n oldest turns left out</numerusform>
        </translation>
    </message>
</context>
</TS>
