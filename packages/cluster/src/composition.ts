/** What clusters in every world have in common: how their members start and get to know each other. */
import {
  configAddress,
  createObjectIdFactory,
  createRandom,
  RequestFailedError,
  shardAddress,
  type Address,
} from '@shardlab/actor'
import { decode } from '@shardlab/bson'
import type { MemberInfo, Runtime } from '@shardlab/runtime'
import { OptionError } from './option-error.js'
import type { ResolvedOptions } from './resolved-options.js'
import { shardSpec, type Topology } from './topology.js'

/**
 * Starts every member and introduces shards and config server to each other; resolves when the cluster answers clients.
 * `nowMs` goes into the cluster's id.
 */
export async function startMembers(
  runtime: Runtime,
  options: ResolvedOptions,
  topology: Topology,
  nowMs: number,
): Promise<MemberInfo[]> {
  // The catalog is introduced to the shards as soon as they listen; mongoses wait for that by themselves.
  const others = runtime.start(topology.others)
  others.catch(() => {})
  const storage = await runtime.start(topology.storage)
  await initialise(runtime, options, storage, nowMs)
  return [...storage, ...(await others)]
}

/** Tells the config server of the shards, and the shards who they are. */
async function initialise(
  runtime: Runtime,
  options: ResolvedOptions,
  storage: readonly MemberInfo[],
  nowMs: number,
): Promise<void> {
  const clusterId = createObjectIdFactory(createRandom(options.seed).fork('cluster-id'))(nowMs)
  const hostOf = ({ address, endpoint }: MemberInfo) => `${address}/${endpoint}`
  const config = storage.find(({ address }) => address === configAddress)!
  const shards = storage.filter((member) => member !== config)
  await Promise.all([
    runtime.request(configAddress, 'config.initialise', {
      clusterId,
      shards: shards.map((shard) => [shard.address, hostOf(shard)] as const),
      chunkSizeBytes: options.chunkSizeBytes,
    }),
    ...shards.map((shard) =>
      runtime.request(shard.address, 'shard.initialise', { clusterId, configHost: hostOf(config) }),
    ),
  ])
}

/**
 * Starts one more shard and has the config server take it in; mongoses that run know of it when this resolves.
 * @throws Error one sentence: config is down, or the config server's reason when it refuses; the shard does not run then
 */
export async function addShardMember(runtime: Runtime, options: ResolvedOptions): Promise<MemberInfo> {
  if (runtime.member(configAddress)?.state !== 'running')
    throw new Error(`no shard can be added while ${configAddress} is down: restart it first.`)
  const shards = runtime.members().filter(({ role }) => role === 'shard')
  const [member] = await runtime.start([shardSpec(options, shardAddress(shards.length))])
  const { address, endpoint } = member!
  const refusal = await introduce(runtime, `${address}/${endpoint}`)
  if (refusal !== null) {
    await runtime.crash(address)
    throw new Error(`${address} cannot be added: ${refusal}`)
  }
  const routers = runtime.members().filter(({ role, state }) => role === 'mongos' && state === 'running')
  await Promise.all(routers.map((router) => runtime.request(router.address, 'mongos.refresh-shards', {})))
  return member!
}

/** @returns why the config server does not take the shard in; null: it has */
async function introduce(runtime: Runtime, connectionString: string): Promise<string | null> {
  try {
    const { error } = await runtime.request(configAddress, 'config.add-shard', {
      connectionString,
      name: null,
      maxSizeMb: 0,
    })
    return error === null ? null : String(decode(error)['errmsg'])
  } catch (error) {
    if (!(error instanceof RequestFailedError)) throw error
    return `${configAddress} does not answer (${error.message}).`
  }
}

/** @throws OptionError when the cluster has no such member */
export function knownMember(runtime: Runtime, member: string): Address {
  if (runtime.member(member) !== undefined) return member
  const addresses = runtime.members().map(({ address }) => address)
  throw new OptionError(`${member} is not a member of this cluster; its members are ${addresses.join(', ')}.`)
}
