/** Starts the members of an earlier process on their disks. */
import { createServer } from 'node:net'
import type { Address } from '@shardlab/actor'
import type { MemberInfo, MemberSpec, Runtime, StoredMember } from '@shardlab/runtime'
import { startStorage } from '../composition.js'
import type { Relocation } from '../copies/relocation.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { describeTopology, memberSpec, specOf, type Topology } from '../topology.js'

/**
 * Members listen where they did, if they can, and elsewhere otherwise. Resolves when the cluster
 * answers clients.
 */
export async function startStored(
  runtime: Runtime,
  options: ResolvedOptions,
  stored: readonly StoredMember[],
  relocation: Relocation,
): Promise<MemberInfo[]> {
  const topology = describeTopology(options)
  const others = runtime.start(topology.others)
  others.catch(() => {})
  const specs = await Promise.all(inOrder(stored, topology).map((member) => specOfStored(member, options, topology)))
  const started = await startStorage(runtime, specs, others)
  const before = stored.flatMap(({ address, endpoint }) => (endpoint === null ? [] : [{ address, endpoint }]))
  await relocation.moved(before, started)
  return [...started, ...(await others)]
}

/** As at the first start, then members that were added since. */
function inOrder(stored: readonly StoredMember[], { storage }: Topology): StoredMember[] {
  const places = new Map<Address, number>(storage.map(({ address }, i) => [address, i]))
  const placeOf = ({ address }: StoredMember): number => places.get(address) ?? storage.length
  return stored.toSorted(
    (a, b) => placeOf(a) - placeOf(b) || a.address.localeCompare(b.address, 'en', { numeric: true }),
  )
}

async function specOfStored(
  { address, set, endpoint }: StoredMember,
  options: ResolvedOptions,
  { storage }: Topology,
): Promise<MemberSpec> {
  const known = storage.find((spec) => spec.address === address)
  const spec = known ?? specOfAdded(address, set, options)
  if (endpoint === null) return spec
  const { listen } = spec
  const port = Number(endpoint.slice(endpoint.lastIndexOf(':') + 1))
  const isSame = listen !== null && listen.port === 0 && (await isFree(listen.host, port))
  return { ...spec, formerEndpoint: endpoint, listen: isSame ? { ...listen, port } : listen }
}

function specOfAdded(address: Address, set: Address | null, options: ResolvedOptions): MemberSpec {
  if (set === null || set === address) return specOf(options, address)
  return memberSpec(specOf(options, set), Number(address.slice(set.length + 1)))
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port }, () => server.close(() => resolve(true)))
  })
}
