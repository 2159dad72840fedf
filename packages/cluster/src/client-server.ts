import type { Address } from '@shardlab/actor'
import type { Runtime } from '@shardlab/runtime'
import type { ResolvedOptions } from './resolved-options.js'
import { primaryOf } from './sets/primary-of.js'
import { standaloneAddress } from './topology.js'

/** The server for the commands of clients: a router, a primary or the only mongod; null: none. */
export async function clientServer(runtime: Runtime, { topology, setName }: ResolvedOptions): Promise<Address | null> {
  if (topology === 'standalone') return standaloneAddress
  if (topology === 'replica-set') return primaryOf(runtime, setName)
  return runtime.members().find(({ role, state }) => role === 'mongos' && state === 'running')?.address ?? null
}

export const noServerText = ({ topology, setName }: ResolvedOptions): string =>
  topology === 'sharded' ? 'no mongos runs' : `the replica set ${setName} has no primary`
