/**
 * The state machine of $densify. Takes documents in the order of the field (within partitions for
 * the bounds `partition`) and inserts missing ones. States: the server's
 * `DocumentSourceInternalDensify`.
 */
import { CommandError, compareValues, type RawValue } from '@shardlab/bson'
import type { DensifyRange } from './densify-range.js'

export interface DensifyInput {
  readonly document: Uint8Array
  readonly value: RawValue
  /** The partition's fields; null: no `partitionByFields`. */
  readonly partition: Uint8Array | null
  readonly partitionKey: string
}

type MakeDocument = (partition: Uint8Array | null, value: RawValue) => Uint8Array
type Documents = Generator<Uint8Array, void>

interface Progress {
  readonly partition: Uint8Array | null
  value: RawValue
}

/** Default of `internalQueryMaxAllowedDensifyDocs`. */
const maxGenerated = 500_000

const isLess = (a: RawValue, b: RawValue) => compareValues(a, b) < 0
const isSame = (a: RawValue, b: RawValue) => compareValues(a, b) === 0

export class Densifier {
  readonly #range: DensifyRange
  readonly #make: MakeDocument
  readonly #isPartitioned: boolean
  readonly #partitions = new Map<string, Progress>()
  #state: 'below' | 'within' | 'done' = 'below'
  /** The last value on the step, given or generated. */
  #current: RawValue | null = null
  #globalMin: RawValue | null = null
  #globalMax: RawValue | null = null
  #generated = 0

  /** @param emptyBounds true: equal bounds are empty (since 8.0); false: they contain one value */
  constructor(range: DensifyRange, isPartitioned: boolean, make: MakeDocument, emptyBounds = false) {
    this.#range = range
    this.#isPartitioned = isPartitioned
    this.#make = make
    if (emptyBounds && typeof range.bounds !== 'string' && isSame(...range.bounds)) this.#state = 'done'
  }

  *take(input: DensifyInput): Documents {
    if (this.#state === 'done') {
      yield input.document
      return
    }
    this.#range.check(input.value)
    const { bounds } = this.#range
    if (typeof bounds !== 'string') yield* this.#within(input, bounds)
    else if (this.#state === 'below') yield* this.#first(input)
    else yield* this.#next(input, bounds)
  }

  *#first(input: DensifyInput): Documents {
    if (this.#isPartitioned) this.#setProgress(input, input.value)
    if (this.#range.bounds === 'full') this.#current = this.#globalMin = this.#globalMax = input.value
    this.#state = 'within'
    yield input.document
  }

  *#next(input: DensifyInput, bounds: 'full' | 'partition'): Documents {
    const progress = this.#isPartitioned ? this.#partitions.get(input.partitionKey) : undefined
    if (bounds === 'full') this.#globalMax = input.value
    if (this.#isPartitioned && progress === undefined) {
      this.#setProgress(input, input.value)
      if (bounds === 'partition') {
        yield input.document
        return
      }
      this.#current = this.#range.step(this.#globalMin!, -1)
    } else if (progress !== undefined) this.#current = progress.value
    yield* this.#fillUpTo(input, null)
  }

  *#within(input: DensifyInput, bounds: readonly [low: RawValue, high: RawValue]): Documents {
    const [low, high] = bounds
    const { value, document } = input
    if (this.#isPartitioned) {
      const progress = this.#partitions.get(input.partitionKey)
      // A value below the bounds is not a step to continue from.
      this.#current = progress === undefined || isLess(progress.value, low) ? null : progress.value
      if (progress === undefined) this.#setProgress(input, value)
    }
    this.#current ??= this.#range.step(low, -1)
    if (isLess(value, low)) {
      yield document
      return
    }
    if (isSame(value, low)) {
      this.#setProgress(input, value)
      this.#current = value
      yield document
      return
    }
    const next = this.#range.step(this.#current, 1)
    if (isLess(this.#current, low) || isLess(value, high) || isLess(next, high)) {
      yield* this.#fillUpTo(input, bounds)
      return
    }
    this.#current = next
    this.#setProgress(input, value)
    if (!this.#isPartitioned) this.#state = 'done'
    yield document
  }

  /** Generates the documents between the last step and this document, within the bounds. */
  *#fillUpTo(input: DensifyInput, bounds: readonly [RawValue, RawValue] | null): Documents {
    const { value, document, partition } = input
    this.#state = 'within'
    const next = this.#range.step(this.#current!, 1)
    if (isLess(value, next)) {
      yield document
      return
    }
    if (isLess(next, value)) {
      const until = bounds !== null && isLess(bounds[1], value) ? bounds[1] : value
      yield* this.#generate(partition, next, until, (generated) => {
        this.#current = generated
        this.#setProgress(input, generated)
      })
    }
    const isOnStep =
      bounds === null ? isSame(value, this.#range.step(this.#current!, 1)) : this.#range.isOnStep(value, this.#current!)
    if (isOnStep) {
      this.#current = value
      this.#setProgress(input, value)
    }
    if (bounds !== null && !this.#isPartitioned && !isLess(this.#current!, bounds[1])) this.#state = 'done'
    yield document
  }

  *#generate(
    partition: Uint8Array | null,
    from: RawValue,
    until: RawValue,
    onEach?: (value: RawValue) => void,
  ): Documents {
    // Generate the first one even if it is not below the end: the caller decided that it is
    // missing.
    let value = from
    do {
      this.#generated++
      if (this.#generated > maxGenerated)
        throw new CommandError(
          5897900,
          `Generated ${this.#generated} documents in $densify, which is over the limit of ${maxGenerated}. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents`,
        )
      yield this.#make(partition, value)
      onEach?.(value)
      value = this.#range.step(value, 1)
    } while (isLess(value, until))
  }

  #setProgress({ partition, partitionKey }: DensifyInput, value: RawValue): void {
    if (!this.#isPartitioned) return
    const progress = this.#partitions.get(partitionKey)
    if (progress === undefined) this.#partitions.set(partitionKey, { partition, value })
    else progress.value = value
  }

  *end(): Documents {
    const { bounds } = this.#range
    if (this.#state === 'done' || bounds === 'partition') return
    if (this.#isPartitioned && this.#partitions.size > 0) {
      if (bounds !== 'full') yield* this.#finishPartitions(bounds[1], bounds[0])
      else if (this.#globalMax !== null)
        yield* this.#finishPartitions(
          this.#range.isOnStep(this.#globalMax, this.#current!)
            ? this.#range.step(this.#globalMax, 1)
            : this.#globalMax,
          null,
        )
      return
    }
    if (bounds === 'full') return
    const from = this.#current === null ? bounds[0] : this.#range.step(this.#current, 1)
    if (this.#current === null || isLess(from, bounds[1])) yield* this.#generate(null, from, bounds[1])
  }

  *#finishPartitions(until: RawValue, atLeast: RawValue | null): Documents {
    for (const { partition, value } of this.#partitions.values()) {
      const next = this.#range.step(value, 1)
      if (!isLess(next, until)) continue
      yield* this.#generate(partition, atLeast !== null && isLess(next, atLeast) ? atLeast : next, until)
    }
  }
}
