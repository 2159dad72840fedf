import { setTimeout } from 'node:timers/promises'
import {
  configAddress,
  createObjectIdFactory,
  createRandom,
  RequestFailedError,
  shardAddress,
  type Address,
} from '@shardlab/actor'
import { decode, encode, findField, ObjectId } from '@shardlab/bson'
import type { MemberInfo, MemberSpec, Runtime } from '@shardlab/runtime'
import { behavioursOf } from '@shardlab/sharding'
import { memberNamed } from './member-names.js'
import type { ResolvedOptions } from './resolved-options.js'
import { askPrimary } from './sets/ask-primary.js'
import { firstPrimary, isInHosts, memberFields, type MemberOptions } from './sets/member-options.js'
import { primaryOf } from './sets/primary-of.js'
import { membersOf, type ResolvedMembers } from './sets/resolve-sets.js'
import { shardSpec, specsOfSet, type Topology } from './topology.js'

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
  const storage = setsOf(topology.storage)
  if (options.topology !== 'sharded') {
    const members = await runtime.start(topology.storage)
    if (options.topology === 'replica-set' && options.initiate) await initiateSets(runtime, options, storage, nowMs)
    return members
  }
  // Mongoses wait for the catalog by themselves, so that they start in parallel.
  const others = runtime.start(topology.others)
  others.catch(() => {})
  const started = await startStorage(runtime, topology.storage, others)
  const standby = new Set<Address>(options.standby)
  await initiateSets(
    runtime,
    options,
    storage.filter(({ name }) => options.initiate || !standby.has(name)),
    nowMs,
  )
  await initialise(
    runtime,
    options,
    storage.filter(({ name }) => !standby.has(name)),
    nowMs,
  )
  return [...started, ...(await others)]
}

/** How long the cause may be later than its consequence. */
const causeWithinMs = 1000

/**
 * A member of `others` that could not start may have taken the thread of these along. Then its
 * error is the one that tells the user what to do.
 */
export async function startStorage(
  runtime: Runtime,
  specs: readonly MemberSpec[],
  others: Promise<unknown>,
): Promise<MemberInfo[]> {
  try {
    return await runtime.start(specs)
  } catch (error) {
    if ((error as Error).name === 'OccupiedThreadError')
      await Promise.race([others, setTimeout(causeWithinMs, null, { ref: false })])
    throw error
  }
}

interface StartedSet {
  readonly name: Address
  /** In the order of the configuration. */
  readonly members: readonly Address[]
}

function setsOf(specs: readonly MemberSpec[]): StartedSet[] {
  const sets = new Map<Address, Address[]>()
  for (const { address, set = address } of specs) sets.set(set, [...(sets.get(set) ?? []), address])
  return [...sets].map(([name, members]) => ({ name, members }))
}

/** Of those with a protocol. */
async function initiateSets(
  runtime: Runtime,
  options: ResolvedOptions,
  sets: readonly StartedSet[],
  nowMs: number,
): Promise<void> {
  await Promise.all(
    sets.map(async ({ name, members }) => {
      const given = membersOf(options, name)
      if (given !== null) await initiateSet(runtime, options, { name, members }, given, nowMs)
    }),
  )
}

/** Resolves when a member accepts writes, and the others know it. */
async function initiateSet(
  runtime: Runtime,
  { heartbeatIntervalMs, electionTimeoutMs, emulate, seed }: ResolvedOptions,
  { name, members }: StartedSet,
  given: readonly MemberOptions[],
  nowMs: number,
): Promise<void> {
  const { configIsStructure, configTerm } = behavioursOf(emulate)
  const delayName = configIsStructure ? 'secondaryDelaySecs' : 'slaveDelay'
  const config = encode({
    _id: name,
    version: 1,
    ...(configTerm ? { term: 0 } : {}),
    ...(name === configAddress ? { configsvr: true } : {}),
    members: members.map((address, i) => ({
      _id: i,
      host: endpointOf(runtime, address),
      ...memberFields(given[i]!, delayName),
    })),
    settings: {
      heartbeatIntervalMillis: heartbeatIntervalMs,
      electionTimeoutMillis: electionTimeoutMs,
      replicaSetId: new ObjectId(createObjectIdFactory(createRandom(seed).fork(`replica-set-id ${name}`))(nowMs)),
    },
  })
  const primary = firstPrimary(given)
  await Promise.all(
    members.map((address, i) =>
      runtime.request(address, 'replication.initiate', { config, atMs: nowMs, isPrimary: i === primary }),
    ),
  )
}

/** As `addShard` takes it: `shard01/127.0.0.1:5000,127.0.0.1:5001`. */
function hostOf(runtime: Runtime, { name, members }: StartedSet, given: ResolvedMembers): string {
  const seen = members.filter((_, i) => given === null || isInHosts(given[i]!))
  return `${name}/${seen.map((address) => endpointOf(runtime, address)).join(',')}`
}

const endpointOf = (runtime: Runtime, address: Address): string => runtime.member(address)!.endpoint

async function initialise(
  runtime: Runtime,
  options: ResolvedOptions,
  storage: readonly StartedSet[],
  nowMs: number,
): Promise<void> {
  const clusterId = createObjectIdFactory(createRandom(options.seed).fork('cluster-id'))(nowMs)
  const hostsOf = (set: StartedSet): string => hostOf(runtime, set, membersOf(options, set.name))
  const firstOf = ({ name, members }: StartedSet): Address => members[firstPrimary(membersOf(options, name) ?? [{}])]!
  const config = storage.find(({ name }) => name === configAddress)!
  const shards = storage.filter((set) => set !== config)
  await Promise.all([
    askPrimary(runtime, config.name, firstOf(config), 'config.initialise', {
      clusterId,
      shards: shards.map((shard) => [shard.name, hostsOf(shard)] as const),
      chunkSizeBytes: options.chunkSizeBytes,
    }),
    ...shards.map(async (shard) => {
      const identity = { clusterId, shardName: shard.name, configHost: hostsOf(config) }
      const { error } = await askPrimary(runtime, shard.name, firstOf(shard), 'shard.initialise', identity)
      if (error !== null) throw new Error(`${shard.name} cannot join the cluster: ${decode(error)['errmsg']}`)
    }),
  ])
}

/**
 * When this resolves, the mongoses that run have read the new shard from the catalog.
 * @returns its members
 * @throws Error the config server is down, or refuses the shard, with its reason; the shard is not
 * left running
 */
export async function addShardMembers(
  runtime: Runtime,
  options: ResolvedOptions,
  given: ResolvedMembers,
): Promise<MemberInfo[]> {
  const config = await primaryOf(runtime, configAddress)
  if (config === null)
    throw new Error(
      runtime.resolve(configAddress).length > 1
        ? `cannot add a shard while ${configAddress} has no primary: restart its members first.`
        : `cannot add a shard while ${configAddress} is down: restart it first.`,
    )
  const set = await freeShardAddress(runtime, config)
  const started = await runtime.start(specsOfSet(shardSpec(options, set), given))
  const members = started.map(({ address }) => address)
  if (given !== null) await initiateSet(runtime, options, { name: set, members }, given, runtime.now())
  const refusal = await introduce(runtime, config, hostOf(runtime, { name: set, members }, given))
  if (refusal !== null) {
    for (const address of members) await runtime.crash(address)
    throw new Error(`cannot add ${set}: ${refusal}`)
  }
  const routers = runtime.members().filter(({ role, state }) => role === 'mongos' && state === 'running')
  await Promise.all(routers.map((router) => runtime.request(router.address, 'mongos.refresh-shards', {})))
  return started
}

/** The first of `shard01`, `shard02`, … that neither a member nor a shard has. */
async function freeShardAddress(runtime: Runtime, config: Address): Promise<Address> {
  const { shards } = await runtime.request(config, 'config.get-shards', {})
  const taken = new Set([
    ...runtime.members().flatMap(({ address, set }) => [address, set]),
    ...shards.map((shard) => findField(shard, '_id')!.asString()),
  ])
  let number = 0
  while (taken.has(shardAddress(number))) number++
  return shardAddress(number)
}

/** @returns why the config server refuses the shard; null: the shard was added */
async function introduce(runtime: Runtime, config: Address, connectionString: string): Promise<string | null> {
  try {
    const { error } = await runtime.request(config, 'config.add-shard', {
      connectionString,
      name: null,
      maxSizeMb: 0,
    })
    return error === null ? null : String(decode(error)['errmsg'])
  } catch (error) {
    if (!(error instanceof RequestFailedError)) throw error
    return `${config} does not answer (${error.message}).`
  }
}

/** @throws OptionError when the cluster has no such member */
export function knownMember(runtime: Runtime, member: string): Address {
  return memberNamed(member, runtime.members()).address
}
