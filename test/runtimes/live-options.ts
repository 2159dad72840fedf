import type { ClusterOptions } from '@shardlab/cluster'
import { openHost } from '@shardlab/cluster/host'
import { NatsServer, withoutNats } from '@shardlab/nats/testing'
import t from 'tap'

export type LiveRuntime = 'threads' | 'inline' | 'nats'

export const hasNats = withoutNats === false
if (!hasNats) t.test('members on hosts of NATS', { skip: withoutNats }, () => {})

export interface LiveOptions {
  readonly options: ClusterOptions
  /** After the cluster has stopped. */
  close(): Promise<void>
}

export async function liveOptions(runtime: LiveRuntime): Promise<LiveOptions> {
  if (runtime === 'nats') return openHosts(['H1', 'H2', 'H3'])
  // So that messages cross threads on every machine.
  return { options: runtime === 'threads' ? { runtime, hosts: 64 } : { runtime }, close: async () => {} }
}

/** In this process, with a server of NATS between them. */
async function openHosts(machines: readonly string[]): Promise<LiveOptions> {
  const server = await NatsServer.start({ jetStream: false })
  const { url } = server
  const opened = await Promise.all(machines.map((name) => openHost({ url, name })))
  return {
    options: { nats: { url, machines } },
    async close() {
      for (const host of opened) await host.close()
      await server.stop()
    },
  }
}
