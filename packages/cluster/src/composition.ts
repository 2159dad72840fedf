import {
  configAddress,
  createObjectIdFactory,
  createRandom,
  RequestFailedError,
  shardAddress,
  type Address,
} from '@shardlab/actor'
import { decode, encode, findField, ObjectId } from '@shardlab/bson'
import type { MemberInfo, Runtime } from '@shardlab/runtime'
import { behavioursOf } from '@shardlab/sharding'
import { memberNamed } from './member-names.js'
import type { ResolvedOptions } from './resolved-options.js'
import { shardSpec, type Topology } from './topology.js'

/**
 * Resolves when the cluster answers clients.
 * @param nowMs for the cluster's id
 */
export async function startMembers(
  runtime: Runtime,
  options: ResolvedOptions,
  topology: Topology,
  nowMs: number,
): Promise<MemberInfo[]> {
  if (options.topology === 'replica-set') {
    const members = await runtime.start(topology.storage)
    await initiateSet(runtime, options, options.setName, members, nowMs)
    return members
  }
  // Mongoses wait for the catalog by themselves, so that they start in parallel.
  const others = runtime.start(topology.others)
  others.catch(() => {})
  const storage = await runtime.start(topology.storage)
  const standby = new Set<Address>(options.standby)
  const sets = setsOf(topology, storage)
  if (options.members > 1)
    await Promise.all(sets.map(({ name, members }) => initiateSet(runtime, options, name, members, nowMs)))
  await initialise(
    runtime,
    options,
    sets.filter(({ name }) => !standby.has(name)),
    nowMs,
  )
  return [...storage, ...(await others)]
}

interface StartedSet {
  readonly name: Address
  /** The first one is primary. */
  readonly members: readonly MemberInfo[]
}

function setsOf({ storage }: Topology, started: readonly MemberInfo[]): StartedSet[] {
  const sets = new Map<Address, MemberInfo[]>()
  storage.forEach(({ address, set = address }, i) => sets.set(set, [...(sets.get(set) ?? []), started[i]!]))
  return [...sets].map(([name, members]) => ({ name, members }))
}

/** Resolves when a member accepts writes, and the others know it. */
async function initiateSet(
  runtime: Runtime,
  { heartbeatIntervalMs, electionTimeoutMs, emulate, seed }: ResolvedOptions,
  setName: string,
  members: readonly MemberInfo[],
  nowMs: number,
): Promise<void> {
  const config = encode({
    _id: setName,
    version: 1,
    ...(behavioursOf(emulate).configTerm ? { term: 0 } : {}),
    ...(setName === configAddress ? { configsvr: true } : {}),
    members: members.map(({ endpoint }, i) => ({ _id: i, host: endpoint })),
    settings: {
      heartbeatIntervalMillis: heartbeatIntervalMs,
      electionTimeoutMillis: electionTimeoutMs,
      replicaSetId: new ObjectId(createObjectIdFactory(createRandom(seed).fork(`replica-set-id ${setName}`))(nowMs)),
    },
  })
  await Promise.all(
    members.map(({ address }) => runtime.request(address, 'replication.initiate', { config, atMs: nowMs })),
  )
}

async function initialise(
  runtime: Runtime,
  options: ResolvedOptions,
  storage: readonly StartedSet[],
  nowMs: number,
): Promise<void> {
  const clusterId = createObjectIdFactory(createRandom(options.seed).fork('cluster-id'))(nowMs)
  const hostOf = ({ name, members }: StartedSet) => `${name}/${members.map(({ endpoint }) => endpoint).join(',')}`
  const config = storage.find(({ name }) => name === configAddress)!
  const shards = storage.filter((set) => set !== config)
  await Promise.all([
    runtime.request(config.members[0]!.address, 'config.initialise', {
      clusterId,
      shards: shards.map((shard) => [shard.name, hostOf(shard)] as const),
      chunkSizeBytes: options.chunkSizeBytes,
    }),
    ...shards.map((shard) =>
      runtime.request(shard.members[0]!.address, 'shard.initialise', {
        ...{ clusterId, shardName: shard.name, configHost: hostOf(config) },
      }),
    ),
  ])
}

/**
 * When this resolves, the mongoses that run have read the new shard from the catalog.
 * @throws Error the config server is down, or refuses the shard, with its reason; the shard is not
 * left running
 */
export async function addShardMember(runtime: Runtime, options: ResolvedOptions): Promise<MemberInfo> {
  if (runtime.member(configAddress)?.state !== 'running')
    throw new Error(`cannot add a shard while ${configAddress} is down: restart it first.`)
  const [member] = await runtime.start([shardSpec(options, await freeShardAddress(runtime))])
  const { address, endpoint } = member!
  const refusal = await introduce(runtime, `${address}/${endpoint}`)
  if (refusal !== null) {
    await runtime.crash(address)
    throw new Error(`cannot add ${address}: ${refusal}`)
  }
  const routers = runtime.members().filter(({ role, state }) => role === 'mongos' && state === 'running')
  await Promise.all(routers.map((router) => runtime.request(router.address, 'mongos.refresh-shards', {})))
  return member!
}

/** The first of `shard01`, `shard02`, … that neither a member nor a shard has. */
async function freeShardAddress(runtime: Runtime): Promise<Address> {
  const { shards } = await runtime.request(configAddress, 'config.get-shards', {})
  const taken = new Set([
    ...runtime.members().map(({ address }) => address),
    ...shards.map((shard) => findField(shard, '_id')!.asString()),
  ])
  let number = 0
  while (taken.has(shardAddress(number))) number++
  return shardAddress(number)
}

/** @returns why the config server refuses the shard; null: the shard was added */
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
  return memberNamed(member, runtime.members()).address
}
