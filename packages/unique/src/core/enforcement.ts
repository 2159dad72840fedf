/**
 * Each spec has a marker in its proxy. It is `building` until a backfill has reserved the values of
 * all documents that existed before, and `enforcing` from then on. The marker is part of the proxy
 * so that a dropped and recreated proxy requires a backfill again.
 */
import { MisconfiguredProxyError } from './errors.js'
import { kindOf, type Fields } from './port.js'
import { valueFilter, type Proxy } from './proxy.js'
import { setAt, type UniqueSpec } from './specs/spec.js'
import { repeated, type World } from './world.js'

export type EnforcementState = 'building' | 'enforcing'

/** The state that a marker had when it was read. */
export interface Mark {
  readonly proxy: Proxy
  readonly spec: UniqueSpec
  readonly state: EnforcementState
  readonly attempt: unknown
}

export const isMarker = ({ state }: Fields): boolean => state === 'building' || state === 'enforcing'

/** A document cannot be the value of a marker's field by chance. */
const markerValue = (spec: UniqueSpec): Fields => ({ marker: `@shardlab/unique ${spec.name}` })

const markerValues = (spec: UniqueSpec): Fields[] => spec.fields.map(() => markerValue(spec))

function markerFilter(proxy: Proxy, spec: UniqueSpec): Fields {
  return { ...(proxy.sharded ? valueFilter(proxy, spec, markerValues(spec)) : {}), _id: { $eq: markerValue(spec) } }
}

/** What all clients must have in common: otherwise their reservations of one value differ. */
interface Rules {
  /** Whether there is a function; functions cannot be compared. */
  readonly normalize: boolean
  readonly missing: UniqueSpec['missing']
}

const rulesOf = ({ normalize, missing }: UniqueSpec): Rules => ({ normalize: normalize !== null, missing })

/** @param found undefined: a marker of an older version. @throws MisconfiguredProxyError */
function checkRules(spec: UniqueSpec, found: Partial<Rules> = {}): void {
  const { normalize, missing } = { ...rulesOf(spec), ...found }
  const own = rulesOf(spec)
  const difference =
    normalize !== own.normalize
      ? `${normalize ? 'after' : 'without'} normalize, but the options have ${own.normalize ? 'normalize' : 'none'}`
      : missing !== own.missing
        ? `with missing: '${missing}', but the options have '${own.missing}'`
        : null
  if (difference !== null)
    throw new MisconfiguredProxyError(
      `values of ${spec.name} are reserved ${difference}: use the same options in every program, or another proxy collection`,
    )
}

export class Enforcement {
  readonly #world: World
  /** Until then the markers need not be read again. */
  #enforcingUntilMs = -Infinity

  constructor(world: World) {
    this.#world = world
  }

  /** How long a client may write without noticing that a repair has revoked the enforcement. */
  get noticeMs(): number {
    return this.#world.reservationMs / 2
  }

  /**
   * Creates missing markers.
   * @throws MisconfiguredProxyError if an existing one is of a spec with other rules
   */
  async begin(): Promise<void> {
    for (const [proxy, spec] of this.#pairs())
      while (!(await this.#isMarked(proxy, spec))) await this.#mark(proxy, spec)
  }

  /** @throws MisconfiguredProxyError as {@link begin} */
  async check(): Promise<void> {
    for (const [proxy, spec] of this.#pairs()) await this.#isMarked(proxy, spec)
  }

  /** The specs whose existing values may have no reservation. */
  async building(): Promise<readonly UniqueSpec[]> {
    const readAtMs = this.#world.clock.now()
    if (!this.#world.markers || readAtMs < this.#enforcingUntilMs) return []
    const building = (await this.marks()).filter(({ state }) => state === 'building')
    if (building.length === 0) this.#enforcingUntilMs = readAtMs + this.noticeMs
    return building.map(({ spec }) => spec)
  }

  async marks(): Promise<Mark[]> {
    const marks: Mark[] = []
    for (const [proxy, spec] of this.#pairs()) {
      const marker = await this.#read(proxy, spec)
      marks.push({
        proxy,
        spec,
        state: marker?.['state'] === 'enforcing' ? 'enforcing' : 'building',
        attempt: marker?.['attempt'],
      })
    }
    return marks
  }

  /**
   * Call when the values of all documents have been reserved since the marks were read. A mark that
   * was revoked in between stays `building`.
   */
  async complete(marks: readonly Mark[]): Promise<void> {
    for (const mark of marks) if (mark.state === 'building') await this.#change(mark, 'enforcing')
  }

  /** For specs with values that two documents have. */
  async revoke(names: ReadonlySet<string>): Promise<void> {
    this.#enforcingUntilMs = -Infinity
    if (names.size === 0) return
    for (const mark of await this.marks()) {
      if (!names.has(mark.spec.name)) continue
      // A backfill that runs now has a mark with another attempt, and cannot complete.
      await this.#change(mark, 'building')
    }
  }

  #change({ proxy, spec, attempt }: Mark, state: EnforcementState): Promise<number> {
    const filter = {
      ...markerFilter(proxy, spec),
      attempt: attempt === undefined ? { $exists: false } : { $eq: attempt },
    }
    const update = { $set: { state, attempt: this.#world.newToken() } }
    return repeated(this.#world.clock, () => proxy.port.updateOne(filter, update))
  }

  async #isMarked(proxy: Proxy, spec: UniqueSpec): Promise<boolean> {
    const marker = await this.#read(proxy, spec)
    if (marker !== null) checkRules(spec, marker['spec'] as Partial<Rules> | undefined)
    return marker !== null
  }

  async #mark(proxy: Proxy, spec: UniqueSpec): Promise<void> {
    const marker: Fields = { state: 'building', attempt: this.#world.newToken(), spec: rulesOf(spec) }
    if (proxy.sharded) for (const field of spec.fields) setAt(marker, field, markerValue(spec))
    try {
      await repeated(this.#world.clock, () => proxy.port.insertOne({ _id: markerValue(spec), ...marker }))
    } catch (error) {
      // Another client has just created it.
      if (kindOf(error) !== 'duplicate') throw error
    }
  }

  #read(proxy: Proxy, spec: UniqueSpec): Promise<Fields | null> {
    return repeated(this.#world.clock, () => proxy.port.findOne(markerFilter(proxy, spec)))
  }

  *#pairs(): Iterable<readonly [Proxy, UniqueSpec]> {
    if (!this.#world.markers) return
    for (const proxy of this.#world.proxies) for (const spec of proxy.specs) yield [proxy, spec]
  }
}
