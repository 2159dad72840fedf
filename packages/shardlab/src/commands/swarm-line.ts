/**
 * Progress on standard error, and a line for each run that fails, at once: the report follows after
 * all runs, which may take hours. A bar on a terminal, otherwise a line for each tenth.
 */
import { SingleBar } from 'cli-progress'
import { counted } from '@shardlab/quantities'
import type { SwarmProgress } from '@shardlab/scenario'

export interface SwarmLine {
  show(progress: SwarmProgress): void
  /** A line of text. */
  readonly print: (text: string) => void
  end(): void
}

export function swarmLine(): SwarmLine {
  return process.stderr.isTTY ? barOnTerminal() : plainLines()
}

function barOnTerminal(): SwarmLine {
  const bar = new SingleBar({
    format: '{bar} {percentage}% {runs} runs, {failed} failed{shrinking}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: false,
  })
  bar.start(1000, 0, { runs: 0, failed: 0, shrinking: '' })
  // The bar is drawn again below the line.
  const print = (text: string): void => void process.stderr.write(`\r${clearLine}${lineOf(text)}`)
  return {
    show({ runs, failed, found, share, shrinking }) {
      if (found !== null) print(failureText(found))
      bar.update(Math.round(share * 1000), {
        runs,
        failed,
        shrinking:
          shrinking === null
            ? ''
            : `; ${shrinkingText(shrinking)}: ${shrinking.attempt}, at most ${shrinking.attemptsMax}`,
      })
    },
    print,
    end: () => bar.stop(),
  }
}

const clearLine = '\u001B[K'
/** Attempts per line. */
const shrinkingEvery = 10
const tenths = 10

function plainLines(): SwarmLine {
  const print = (text: string): void => void process.stderr.write(lineOf(text))
  let shown = 0
  return {
    show({ runs, failed, found, share, shrinking }) {
      if (shrinking !== null && shrinking.attempt % shrinkingEvery === 1)
        print(`${shrinkingText(shrinking)}: attempt ${shrinking.attempt}, at most ${shrinking.attemptsMax}`)
      if (found !== null) print(failureText(found))
      const tenth = Math.floor(share * tenths)
      if (tenth === shown || shrinking !== null) return
      shown = tenth
      print(`${counted(runs, 'run')}, ${failed} failed, ${tenth * tenths}% done`)
    },
    print,
    end() {},
  }
}

const lineOf = (text: string): string => `shardlab: ${text}\n`

const shrinkingText = ({ seed }: NonNullable<SwarmProgress['shrinking']>): string =>
  `looking for the smallest run of seed ${seed} that fails`

function failureText({ seed, violation }: NonNullable<SwarmProgress['found']>): string {
  return `seed ${seed} failed, ${violation.checker}: ${violation.sentence}`
}
