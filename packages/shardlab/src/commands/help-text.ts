import { Help, type Command } from 'commander'

/** The list of commands shows the first line of the text. */
export function describe(command: Command, text: string, examples: string): Command {
  return command.summary(text.split('\n')[0]!).description(`${text}\n\nExamples:\n${examples}`)
}

/** Longer terms do not move the descriptions of the others. */
const termWidthMax = 32

/** Output that is not a terminal gets this width. */
const widthInFiles = 100

/** Set before commands are added: they copy it. */
export function layOutHelp(program: Command): Command {
  return program
    .configureOutput({ getOutHelpWidth: () => (process.stdout.isTTY ? process.stdout.columns : widthInFiles) })
    .configureHelp({
      padWidth(command, helper) {
        return Math.min(termWidthMax, Help.prototype.padWidth.call(this, command, helper))
      },
      // Examples are indented and stay on one line, so that they can be copied.
      boxWrap(text, width) {
        const wrap = (line: string): string =>
          line.startsWith('  ') ? line : Help.prototype.boxWrap.call(this, line, width)
        return text.split('\n').map(wrap).join('\n')
      },
    })
}
