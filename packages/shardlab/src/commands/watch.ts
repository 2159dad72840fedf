import { watchEvents, type WatchedEvent } from '@shardlab/load'
import { handleSignals } from './interruption.js'
import type { WatchCommandOptions } from './watch-options.js'

/** @throws OptionError */
export async function watch(ns: string | undefined, options: WatchCommandOptions): Promise<void> {
  const { uri, fullDocument, expanded, resumeAfter, count, json } = options
  const signals = handleSignals(() => {})
  try {
    await watchEvents(
      { uri, ns: ns ?? null, fullDocument, showExpandedEvents: expanded === true, resumeAfter, count },
      {
        stop: signals.stop,
        opened: () => process.stderr.write(`Watching ${ns ?? 'the cluster'}. End with Ctrl-C.\n`),
        event: (event) => process.stdout.write(`${json === true ? event.json : lineOf(event)}\n`),
      },
    )
  } finally {
    signals.end()
  }
}

function lineOf({ operationType, ns, key, change, clusterTime: { seconds, increment } }: WatchedEvent): string {
  const time = new Date(1000 * seconds).toISOString().slice(11, 19)
  return [`${time}.${increment}`, operationType.padEnd(10), ns, key, change].filter((part) => part !== '').join('  ')
}
