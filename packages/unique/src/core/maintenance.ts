import type { Mark } from './enforcement.js'
import { ValueTakenError } from './errors.js'
import { defaultConcurrency, Examiner } from './examiner.js'
import { findingOf, rethrown, waitingUntil, type Finding } from './findings.js'
import { eachLimited } from './limited.js'
import type { Fields } from './port.js'
import { heldSpecs, identityFilter, isExpired, isReserved, ownerOf, type Proxy, type Reservation } from './proxy.js'
import {
  nextStep,
  WaitingCount,
  type BackfillReport,
  type OnProgress,
  type RepairReport,
  type Standing,
  type SweepReport,
  type VerifyReport,
} from './reports.js'
import type { UniqueSpec } from './specs/spec.js'
import { maxTries } from './writes/attempt.js'
import type { UniqueProtocol } from './writes/protocol.js'
import { resolve } from './writes/resolve.js'
import { readMain, repeated, type World } from './world.js'

export class Maintenance {
  readonly #world: World
  readonly #protocol: UniqueProtocol
  readonly #examiner: Examiner

  constructor(world: World, protocol: UniqueProtocol) {
    this.#world = world
    this.#protocol = protocol
    this.#examiner = new Examiner(world)
  }

  /** Creates missing markers. Without documents, enforcement begins at once. */
  async begin(): Promise<void> {
    const { enforcement } = this.#protocol
    await enforcement.begin()
    const marks = await enforcement.marks()
    if (marks.every(({ state }) => state === 'enforcing')) return
    if ((await repeated(this.#world.clock, () => this.#world.main.findOne({}))) === null)
      await enforcement.complete(marks)
  }

  /** @throws MisconfiguredProxyError if the proxies belong to specs with other rules */
  check(): Promise<void> {
    return this.#protocol.enforcement.check()
  }

  /** Whether the reservations alone keep values unique, and what to do if not. */
  status(): Promise<Standing> {
    return this.#standing('verify', [], new WaitingCount())
  }

  /**
   * Skips documents that have reservations, so an interrupted run may be repeated. A run that has
   * reserved every value begins the enforcement.
   */
  async backfill(onProgress: OnProgress = () => {}): Promise<BackfillReport> {
    const marks = await this.#protocol.enforcement.marks()
    const counts = { reserved: 0, already: 0, changed: 0 }
    const findings: Finding[] = []
    const waiting = new WaitingCount()
    const { concurrency = defaultConcurrency } = this.#world
    let documents = 0
    await eachLimited(this.#world.main.find({}), concurrency, async (document) => {
      try {
        counts[await this.#adopt(document)]++
      } catch (error) {
        const until = waitingUntil(this.#world, error)
        if (until !== null) waiting.add(until)
        else findings.push(findingOf(document['_id'], error) ?? rethrown(error))
      }
      onProgress({ looked: ++documents })
    })
    const duplicates = duplicatesIn(findings)
    if (waiting.report.waiting === 0) await this.#complete(marks, duplicates)
    await this.#protocol.enforcement.revoke(duplicates)
    return {
      documents,
      ...counts,
      findings,
      ...waiting.report,
      ...(await this.#standing('backfill', findings, waiting)),
    }
  }

  /** Works during writes: unfinished writes are not findings. */
  async verify(onProgress: OnProgress = () => {}): Promise<VerifyReport> {
    const findings: Finding[] = []
    const examined = await this.#examiner.examine(async (finding) => void findings.push(finding), onProgress)
    return { ...examined, findings, ...(await this.#standing('verify', findings, { report: examined })) }
  }

  /** Decides expired reservations, removes orphaned ones, and reserves unreserved values. */
  async repair(onProgress: OnProgress = () => {}): Promise<RepairReport> {
    const left: Finding[] = []
    let mended = 0
    const waiting = new WaitingCount()
    const mend = async (
      finding: Finding,
      reservation: { proxy: Proxy; document: Reservation } | null,
    ): Promise<void> => {
      if (finding.kind === 'duplicate' || finding.kind === 'invalid') return void left.push(finding)
      try {
        if (reservation !== null) await this.#decide(reservation.proxy, reservation.document)
        if (finding.kind === 'unreserved' || finding.kind === 'disagreement') {
          const document = await readMain(this.#world, finding.owner)
          if (document !== null) await this.#adopt(document)
        }
        mended++
      } catch (error) {
        const until = waitingUntil(this.#world, error)
        if (until !== null) waiting.add(until)
        else left.push(findingOf(finding.owner, error) ?? rethrown(error))
      }
    }
    const examined = await this.#examiner.examine(mend, onProgress)
    if (examined.waitingUntil !== null) for (let i = 0; i < examined.waiting; i++) waiting.add(examined.waitingUntil)
    await this.#protocol.enforcement.revoke(duplicatesIn(left))
    return { mended, left, ...waiting.report, ...(await this.#standing('repair', left, waiting)) }
  }

  async sweep(onProgress: OnProgress = () => {}): Promise<SweepReport> {
    const report = { confirmed: 0, released: 0 }
    const waiting = new WaitingCount()
    const { concurrency = defaultConcurrency } = this.#world
    let looked = 0
    for (const proxy of this.#world.proxies) {
      const reserved = proxy.port.find({
        state: 'reserved',
        expiresAt: { $exists: true },
      }) as AsyncIterable<Reservation>
      await eachLimited(reserved, concurrency, async (reservation) => {
        if (isExpired(reservation, this.#world.clock.now())) {
          const outcome = await this.#sweep(proxy, reservation)
          if (outcome !== null) report[outcome]++
        } else waiting.add(reservation.expiresAt!)
        onProgress({ looked: ++looked })
      })
    }
    return { ...report, ...waiting.report }
  }

  /** @throws as `UniqueProtocol.adopt`; a value is taken only if another document really has it */
  async #adopt(document: Fields): Promise<'reserved' | 'already' | 'changed'> {
    const { clock, busyMs } = this.#world
    const deadlineMs = clock.now() + busyMs
    let seen = document
    for (let tries = 1; ; tries++) {
      try {
        return await this.#protocol.adopt(seen)
      } catch (error) {
        if (waitingUntil(this.#world, error) !== null) {
          if (clock.now() >= deadlineMs) throw error
          // The other write may give up in a moment.
          await clock.sleep(10)
        } else {
          if (!(error instanceof ValueTakenError) || tries === maxTries) throw error
          if (await this.#isDuplicate(error.spec, seen)) throw error
        }
        const now = await readMain(this.#world, seen['_id'])
        if (now === null) return 'changed'
        seen = now
      }
    }
  }

  /** If the value is reserved for a document that does not have it, decides the reservation. */
  async #isDuplicate(spec: UniqueSpec, document: Fields): Promise<boolean> {
    const proxy = this.#world.proxies.find(({ specs }) => specs.includes(spec))!
    const examined = await this.#examiner.examineDocument(proxy, spec, document)
    if (examined?.finding.kind === 'duplicate') return true
    if (examined != null && examined.holder !== null) await this.#decide(proxy, examined.holder)
    return false
  }

  #complete(marks: readonly Mark[], duplicates: ReadonlySet<string>): Promise<void> {
    return this.#protocol.enforcement.complete(marks.filter(({ spec }) => !duplicates.has(spec.name)))
  }

  async #standing(
    action: 'backfill' | 'verify' | 'repair',
    findings: readonly Finding[],
    { report }: Pick<WaitingCount, 'report'>,
  ): Promise<Standing> {
    const enforcing = (await this.#protocol.enforcement.marks()).every(({ state }) => state === 'enforcing')
    return { enforcing, next: nextStep(action, enforcing, findings, report) }
  }

  /**
   * Confirms or releases a reservation according to the main document. One that has not expired is
   * taken over first.
   */
  async #decide(proxy: Proxy, reservation: Reservation): Promise<void> {
    if (isReserved(reservation)) return void (await this.#sweep(proxy, reservation))
    const { clock, newToken, reservationMs } = this.#world
    const mark = { state: 'reserved' as const, attempt: newToken(), expiresAt: new Date(clock.now() + reservationMs) }
    const filter = { ...identityFilter(proxy, reservation), state: reservation.state ?? { $exists: false } }
    const taken = await repeated(clock, () => proxy.port.updateOne(filter, { $set: mark }))
    if (taken > 0) await resolve(this.#world, proxy, { ...reservation, ...mark })
  }

  async #sweep(proxy: Proxy, reservation: Reservation): Promise<'confirmed' | 'released' | null> {
    const outcome = await resolve(this.#world, proxy, reservation)
    if (outcome !== null) {
      const fields = heldSpecs(proxy, reservation).map(({ name }) => name)
      this.#world.tell({ event: 'swept', owner: ownerOf(reservation), fields })
    }
    return outcome
  }
}

/** The names of specs with values that two documents have. */
const duplicatesIn = (findings: readonly Finding[]): Set<string> =>
  new Set(findings.flatMap((finding) => (finding.kind === 'duplicate' ? [finding.field] : [])))
