/**
 * Generators in a template are objects with one `$` name; all other values are plain.
 * `{ $key: {} }` is the record's number; `{ $key: { times, mod, div } }` is computed from it;
 * `{ $keyName: {} }` YCSB's name for it; `{ $int: [from, to] }` an integer below `to`;
 * `{ $oneOf: […] }`; `{ $date: [from, to] }` ISO texts; `{ $text: length }` a text that updates
 * rewrite, at the top level only.
 */
import { hash32, purposes, unit } from '../data/hash.js'
import { keyName, keyOfName, textLengthMin, Texts } from '../data/text.js'

export type TemplateValue = unknown

/** Integers of 32 bits become int32, all other numbers double. */
export type RecordDocument = { _id: unknown } & Record<string, unknown>

/** `path` leads to the place in the template. */
export class TemplateError extends Error {
  readonly path: readonly string[]

  constructor(message: string, path: readonly string[]) {
    super(message)
    this.path = path
  }
}

type Generator = (key: number) => unknown

export interface TextField {
  readonly name: string
  /** Index among the text fields. */
  readonly index: number
  readonly length: number
}

interface Field {
  readonly name: string
  /** null for texts. */
  readonly generate: Generator | null
  readonly text: TextField | null
  readonly source: TemplateValue
}

export class RecordTemplate {
  readonly seed: number
  readonly texts: readonly TextField[]
  readonly #fields: readonly Field[]
  readonly #byName: ReadonlyMap<string, Field>
  readonly #text: Texts

  /** `_id` defaults to `{ $keyName: {} }` and always comes first. @throws TemplateError */
  constructor(template: Readonly<Record<string, TemplateValue>>, seed: number) {
    this.seed = seed
    const id = template['_id'] ?? { $keyName: {} }
    const idGenerator = generatorName(id)
    if (
      idGenerator !== '$keyName' &&
      !(idGenerator === '$key' && Object.keys((id as { $key: object }).$key ?? {}).length === 0)
    ) {
      throw new TemplateError('must be { $keyName: {} } or { $key: {} }, from which the end check finds the record', [
        '_id',
      ])
    }
    const fields: Field[] = []
    const texts: TextField[] = []
    for (const [name, source] of Object.entries(Object.assign({ _id: id }, template))) {
      if (name.startsWith('$') || name.includes('.'))
        throw new TemplateError('must not begin with $ or contain a dot', [name])
      if (generatorName(source) === '$text') {
        const length = (source as { $text: unknown }).$text
        if (!isWhole(length) || length < textLengthMin || length > 8_000_000) {
          throw new TemplateError(`$text must be a length from ${textLengthMin} to 8000000`, [name])
        }
        const text = { name, index: texts.length, length }
        texts.push(text)
        fields.push({ name, generate: null, text, source })
      } else {
        fields.push({ name, generate: compile(source, seed, [name]), text: null, source })
      }
    }
    this.texts = texts
    this.#fields = fields
    this.#byName = new Map(fields.map((field) => [field.name, field]))
    this.#text = new Texts(seed, Math.max(0, ...texts.map(({ length }) => length)))
  }

  get fieldNames(): string[] {
    return this.#fields.map(({ name }) => name)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** `$int`, …; null: a plain value. */
  generatorOf(name: string): { readonly name: string; readonly argument: unknown } | null {
    const source = this.#byName.get(name)?.source
    const generator = generatorName(source)
    return generator === null ? null : { name: generator, argument: (source as Record<string, unknown>)[generator] }
  }

  record(key: number, version: number): RecordDocument {
    const document: RecordDocument = { _id: undefined }
    for (const { name, generate, text } of this.#fields) {
      document[name] = text === null ? generate!(key) : this.text(text, key, version)
    }
    return document
  }

  /** For fields without versions. */
  value(name: string, key: number): unknown {
    return this.#byName.get(name)!.generate!(key)
  }

  text({ index, length }: TextField, key: number, version: number): string {
    return this.#text.text(key, index, version, length)
  }

  /** null: not an `_id` of this load test. */
  keyOfId(id: unknown): number | null {
    if (typeof id === 'string') return this.generatorOf('_id')?.name === '$keyName' ? keyOfName(this.seed, id) : null
    return typeof id === 'number' && isWhole(id) && id >= 0 && this.generatorOf('_id')?.name === '$key' ? id : null
  }
}

const generatorNames = ['$key', '$keyName', '$int', '$oneOf', '$date', '$text']

function generatorName(source: unknown): string | null {
  if (typeof source !== 'object' || source === null || Array.isArray(source) || source instanceof Date) return null
  const names = Object.keys(source)
  return names.length === 1 && names[0]!.startsWith('$') ? names[0]! : null
}

const isWhole = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value)

function compile(source: TemplateValue, seed: number, path: readonly string[]): Generator {
  const generator = generatorName(source)
  if (generator !== null) return compileGenerator(generator, (source as Record<string, unknown>)[generator], seed, path)
  if (Array.isArray(source)) {
    const elements = source.map((element, i) => compile(element, seed, [...path, String(i)]))
    return (key) => elements.map((generate) => generate(key))
  }
  if (typeof source === 'object' && source !== null && !(source instanceof Date)) {
    const fields = Object.entries(source).map(([name, value]) => [name, compile(value, seed, [...path, name])] as const)
    return (key) => Object.fromEntries(fields.map(([name, generate]) => [name, generate(key)]))
  }
  return () => source
}

function compileGenerator(name: string, argument: unknown, seed: number, path: readonly string[]): Generator {
  // Equal generators in a record differ by their place.
  const purpose =
    purposes.value +
    (hash32(0, path.length, 0) ^ [...path.join('.')].reduce((h, c) => (Math.imul(h, 31) + c.charCodeAt(0)) | 0, 7))
  const wrong = (rule: string): TemplateError => new TemplateError(rule, path)
  switch (name) {
    case '$keyName':
      return (key) => keyName(seed, key)
    case '$key': {
      const { times = 1, div = 1, mod = 0 } = (argument ?? {}) as Record<string, unknown>
      if (![times, div, mod].every(isWhole) || (div as number) < 1 || (mod as number) < 0)
        throw wrong('$key must have whole numbers times, div (from 1) and mod (from 0)')
      const [t, d, m] = [times as number, div as number, mod as number]
      return (key) => {
        const value = Math.floor((key * t) / d)
        return m === 0 ? value : value % m
      }
    }
    case '$int': {
      const [from, to] = Array.isArray(argument) ? (argument as unknown[]) : []
      if (!isWhole(from) || !isWhole(to) || to <= from)
        throw wrong('$int must be [from, to], whole numbers with from below to')
      return (key) => from + Math.floor(unit(seed, key, purpose) * (to - from))
    }
    case '$oneOf': {
      if (!Array.isArray(argument) || argument.length === 0)
        throw wrong('$oneOf must be a list with at least one value')
      const values = argument as unknown[]
      return (key) => values[Math.floor(unit(seed, key, purpose) * values.length)]
    }
    case '$date': {
      const [from, to] = (Array.isArray(argument) ? argument : []).map((text) => Date.parse(String(text)))
      if (from === undefined || to === undefined || !(from < to))
        throw wrong('$date must be [from, to], two dates with from before to')
      return (key) => new Date(from + Math.floor(unit(seed, key, purpose) * (to - from)))
    }
    case '$text':
      throw wrong('$text is allowed only at the top level of a record')
    default:
      throw wrong(`there is no generator ${name}: use one of ${generatorNames.join(', ')}`)
  }
}
