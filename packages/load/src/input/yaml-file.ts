/** YAML files of settings, workloads and scenarios: whatever is wrong with one is told by its line and the rule that it breaks. */
import { LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'

/** Where a setting is: `['operations', 'one', 'by']`. */
export type SettingPath = readonly PropertyKey[]

export interface YamlFileOptions {
  /** What to call the file in errors. */
  readonly path: string
  /** What to call all of it: `the workload`. */
  readonly whole: string
  /** The error to throw. Its message: `<path>:<line>: <setting>: <rule>`, one sentence. */
  readonly Problem: new (message: string) => Error
}

export class YamlFile {
  /** As YAML says it; nothing has been checked. */
  readonly value: unknown
  readonly #options: YamlFileOptions
  readonly #lines = new LineCounter()
  readonly #yaml: ReturnType<typeof parseDocument>

  /** @throws Problem when the text is not YAML, or grows out of all bounds by its aliases */
  constructor(text: string, options: YamlFileOptions) {
    const { path, Problem } = options
    this.#options = options
    this.#yaml = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false })
    const broken = this.#yaml.errors[0] ?? this.#yaml.warnings[0]
    if (broken !== undefined) throw new Problem(`${path}:${this.#lines.linePos(broken.pos[0]).line}: ${sentence(broken.message)}`)
    try {
      this.value = this.#yaml.toJS({ maxAliasCount: 100 })
    } catch (error) {
      throw new Problem(`${path}: ${sentence(error instanceof Error ? error.message : String(error))}`)
    }
  }

  /** @throws Problem with the line of the setting, or of the nearest one around it that is there */
  fail(setting: SettingPath, message: string): never {
    const { path, whole, Problem } = this.#options
    const name = setting.map(String).join('.')
    throw new Problem(`${path}:${this.#lineOf(setting)}: ${name === '' ? whole : name}: ${sentence(message)}`)
  }

  /**
   * What the schema makes of a value.
   * @param value default: all of the file
   * @param originOf where the file has a part of the value. Default: in the same place
   * @throws Problem for the first rule that is broken
   */
  checked<T>(schema: z.ZodType<T>, value: unknown = this.value, originOf: (setting: SettingPath) => SettingPath = (same) => same): T {
    const result = schema.safeParse(value)
    if (result.success) return result.data
    const issue = result.error.issues[0]!
    if (issue.code === 'unrecognized_keys') return this.fail(originOf([...issue.path, issue.keys[0]!]), 'there is no such setting')
    if (issue.path.length === 0 && issue.code === 'invalid_type')
      return this.fail([], 'is settings with their values, as in "name: orders"')
    const isMissing = issue.code !== 'custom' && valueAt(value, issue.path) === undefined
    return this.fail(originOf(issue.path), isMissing ? 'is missing' : issue.message)
  }

  #lineOf(setting: SettingPath): number {
    for (let length = setting.length; length > 0; length--) {
      const node = this.#yaml.getIn(setting.slice(0, length), true) as { range?: [number, number, number] } | undefined
      if (node?.range != null) return this.#lines.linePos(node.range[0]).line
    }
    return 1
  }
}

function valueAt(value: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (at, part) => (at === null || at === undefined ? undefined : (at as Record<PropertyKey, unknown>)[part]),
    value,
  )
}

const sentence = (text: string): string => text.split('\n')[0]!.replace(/\.$/, '')
