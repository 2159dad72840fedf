/** Errors name the line and the broken rule. */
import { suggestion } from '@shardlab/quantities'
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'

/** `['operations', 'one', 'by']`. */
export type SettingPath = readonly PropertyKey[]

export interface YamlFileOptions {
  /** Shown in errors. */
  readonly path: string
  /** The whole contents in errors: `the workload`. */
  readonly whole: string
  /** Thrown with the message `<path>:<line>: <setting>: <rule>`, one sentence. */
  readonly Problem: new (message: string) => Error
}

export class YamlFile {
  /** Unchecked. */
  readonly value: unknown
  readonly #options: YamlFileOptions
  readonly #lines = new LineCounter()
  readonly #yaml: ReturnType<typeof parseDocument>

  /** @throws Problem if the text is not YAML, or its aliases expand too far */
  constructor(text: string, options: YamlFileOptions) {
    const { path, whole, Problem } = options
    this.#options = options
    this.#yaml = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false })
    const broken = this.#yaml.errors[0] ?? this.#yaml.warnings[0]
    if (broken?.code === 'MULTIPLE_DOCS')
      throw new Problem(`${path}:${this.#lines.linePos(broken.pos[0]).line}: ${whole} must be one YAML document`)
    if (broken !== undefined)
      throw new Problem(`${path}:${this.#lines.linePos(broken.pos[0]).line}: ${sentence(broken.message)}`)
    try {
      this.value = this.#yaml.toJS({ maxAliasCount: 100 })
    } catch (error) {
      throw new Problem(`${path}: ${sentence(error instanceof Error ? error.message : String(error))}`)
    }
  }

  /** @throws Problem with the line of the setting, or of the nearest existing setting around it */
  fail(setting: SettingPath, message: string): never {
    throw new this.#options.Problem(this.message(setting, message))
  }

  /** The text of {@link fail}, for warnings. */
  message(setting: SettingPath, message: string): string {
    const { path, whole } = this.#options
    const name = setting.map(String).join('.')
    return `${path}:${this.#lineOf(setting)}: ${name === '' ? whole : name}: ${sentence(message)}`
  }

  /**
   * @param value default: the whole file
   * @param originOf maps a part of the value to its place in the file. Default: the same place
   * @throws Problem for the first broken rule
   */
  checked<T>(
    schema: z.ZodType<T>,
    value: unknown = this.value,
    originOf: (setting: SettingPath) => SettingPath = (same) => same,
  ): T {
    const result = schema.safeParse(value)
    if (result.success) return result.data
    const { issues } = result.error
    const [first] = issues as [z.core.$ZodIssue]
    // A missing setting may be present under a misspelt name.
    const misspelt = issues.find((issue) => issue.code === 'unrecognized_keys' && samePlace(issue.path, first.path))
    const issue = misspelt ?? first
    if (issue.code === 'unrecognized_keys') {
      const [name] = issue.keys as [string]
      const meant = suggestion(name, settingsAt(schema, issue.path))
      return this.fail(originOf([...issue.path, name]), `there is no such setting${meant === null ? '' : `; ${meant}`}`)
    }
    if (issue.path.length === 0 && issue.code === 'invalid_type')
      return this.fail([], 'must be settings with their values, as in "name: orders"')
    const wrong = valueAt(value, issue.path)
    if (issue.code !== 'custom' && wrong === undefined) return this.fail(originOf(issue.path), 'is missing')
    const isUnsaid = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')
    return this.fail(
      originOf(issue.path),
      isUnsaid
        ? `must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(wrong)}`
        : withSuggestion(issue.message, wrong),
    )
  }

  #lineOf(setting: SettingPath): number {
    for (let length = setting.length; length > 0; length--) {
      const node = this.#yaml.getIn(setting.slice(0, length), true) as { range?: [number, number, number] } | undefined
      if (node?.range != null) return this.#lines.linePos(node.range[0]).line
    }
    return 1
  }
}

const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  record: 'settings with their values',
  object: 'settings with their values',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  return kinds[Array.isArray(value) ? 'array' : typeof value] ?? typeof value
}

/** `must be one of uniform, zipfian; did you mean uniform?` */
function withSuggestion(message: string, given: unknown): string {
  const [, names] = /^must be one of (.+)$/.exec(message) ?? []
  const meant = names === undefined || typeof given !== 'string' ? null : suggestion(given, names.split(', '))
  return meant === null ? message : `${message}; ${meant}`
}

/** Whether `path` equals `outer` or is directly below it. */
const samePlace = (outer: SettingPath, path: SettingPath): boolean =>
  outer.every((part, i) => part === path[i]) && path.length <= outer.length + 1

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly additionalProperties?: JsonSchema | boolean
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
}

function settingsAt(schema: z.ZodType, path: SettingPath): string[] {
  const whole = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const formsOf = (form: JsonSchema): readonly JsonSchema[] => [
    form,
    ...[form.anyOf, form.oneOf, form.allOf].flatMap((forms) => (forms ?? []).flatMap(formsOf)),
  ]
  const forms = path.reduce<readonly JsonSchema[]>(
    (at, part) =>
      at.flatMap(({ properties, items, additionalProperties }) => {
        const next = typeof part === 'number' ? items : (properties?.[String(part)] ?? additionalProperties)
        return typeof next === 'object' ? formsOf(next) : []
      }),
    formsOf(whole),
  )
  return [...new Set(forms.flatMap(({ properties }) => Object.keys(properties ?? {})))]
}

function valueAt(value: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (at, part) => (at === null || at === undefined ? undefined : (at as Record<PropertyKey, unknown>)[part]),
    value,
  )
}

const sentence = (text: string): string => text.split('\n')[0]!.replace(/\.$/, '')
