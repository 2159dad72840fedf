import { openHost, type OpenHost } from '@shardlab/cluster/host'
import type { ClusterOptions } from '@shardlab/cluster'
import { NatsServer, withoutNats } from '@shardlab/nats/testing'
import t from 'tap'

export type LiveRuntime = 'threads' | 'inline' | 'nats'

/** Hosts in this process, which NATS connects; null: nats-server is not installed. */
export const hosts = withoutNats === false ? await openHosts(['H1', 'H2', 'H3']) : null

if (withoutNats !== false) t.test('members on hosts of NATS', { skip: withoutNats }, () => {})

async function openHosts(machines: readonly string[]): Promise<{ url: string; machines: readonly string[] }> {
  const server = await NatsServer.start({ jetStream: false })
  const { url } = server
  const opened: OpenHost[] = []
  t.teardown(async () => {
    for (const host of opened) await host.close()
    await server.stop()
  })
  for (const name of machines) opened.push(await openHost({ url, name }))
  return { url, machines }
}

export function liveOptions(runtime: LiveRuntime): ClusterOptions {
  if (runtime === 'nats') return { nats: hosts! }
  // So that messages cross threads on every machine.
  return runtime === 'threads' ? { runtime, hosts: 64 } : { runtime }
}
