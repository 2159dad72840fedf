/** A cluster in a process of its own, so that its memory can be measured. */
import { ShardedCluster } from 'shardlab'

/** What the process sends: its endpoints once, then its memory for each message to it. */
export type ServerMessage =
  | { readonly uri: string; readonly endpoints: readonly string[] }
  | { readonly rssBytes: number }

const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })

process.on('message', () => {
  // Twice: the first collection only schedules the release of external memory.
  for (let i = 0; i < 2; i++) globalThis.gc!()
  process.send!({ rssBytes: process.memoryUsage.rss() } satisfies ServerMessage)
})
process.on('disconnect', () => void cluster.stop())
cluster.on('member', ({ member, state, error }) => {
  if (state === 'crashed') throw new Error(`${member} crashed: ${error}`)
})
process.send!({
  uri: cluster.uri,
  endpoints: [...cluster.mongos, ...cluster.shards.map(({ uri }) => new URL(uri).host)],
} satisfies ServerMessage)
