/** What the verbs of the command `shardlab` that ask every shard have in common. */
import { configAddress, RequestFailedError, type Address } from '@shardlab/actor'
import { findField, type Document } from '@shardlab/bson'
import type { Runtime } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import { primaryOf } from '../sets/primary-of.js'
import type { TopologyName } from '../topology-name.js'

export const configTimeoutMs = 5000

export interface ReadCluster {
  readonly runtime: Runtime
  readonly topology: TopologyName
}

/** @throws OptionError the field `ns` is no namespace, or the cluster is not sharded */
export function namespaceIn({ ns }: Document, verb: string, topology: TopologyName): string {
  if (topology !== 'sharded') throw new OptionError(`${verb} needs a sharded cluster.`)
  if (typeof ns !== 'string' || !/^[^.]+\../.test(ns))
    throw new OptionError(`${verb} needs ns, such as shop.orders: a database and a collection.`)
  return ns
}

/** @throws OptionError the config server is down */
export async function configPrimaryOf(runtime: Runtime): Promise<Address> {
  const config = await primaryOf(runtime, configAddress)
  if (config === null) throw new OptionError('the config server is down or has no primary: restart it.')
  return config
}

/** @returns their names, sorted */
export async function shardsIn(runtime: Runtime, config: Address): Promise<string[]> {
  const { shards } = await runtime.request(config, 'config.get-shards', {}, { timeoutMs: configTimeoutMs })
  return shards.map((document) => findField(document, '_id')!.asName()).sort()
}

/**
 * @param ask the primary of the shard
 * @returns `answer`; if the shard did not answer, `error` is the reason, a sentence
 */
export async function askShard<T>(
  runtime: Runtime,
  shard: string,
  ask: (primary: Address) => Promise<T>,
): Promise<{ readonly answer: T; readonly error: null } | { readonly answer: null; readonly error: string }> {
  try {
    const primary = await primaryOf(runtime, shard)
    if (primary === null) throw new OptionError('the shard is down or has no primary')
    return { answer: await ask(primary), error: null }
  } catch (error) {
    if (!(error instanceof RequestFailedError) && !(error instanceof OptionError)) throw error
    return { answer: null, error: error.message }
  }
}
