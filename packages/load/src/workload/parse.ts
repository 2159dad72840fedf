/** Workload files: YAML, each broken rule with its line. */
import { LineCounter, parseDocument } from 'yaml'
import { OptionError } from '../option-error.js'
import { workloadSchema } from './schema.js'
import { compileWorkload, WorkloadRuleError, type Workload } from './workload.js'

/**
 * Reads a workload.
 * @param path what to call the file in errors
 * @throws OptionError with file, line and rule
 */
export function parseWorkload(text: string, path: string): Workload {
  const lines = new LineCounter()
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const broken = yaml.errors[0] ?? yaml.warnings[0]
  if (broken !== undefined) throw new OptionError(`${path}:${lines.linePos(broken.pos[0]).line}: ${sentence(broken.message)}`)

  /** The line of a part, or of the nearest part around it that exists. */
  const lineOf = (parts: readonly PropertyKey[]): number => {
    for (let length = parts.length; length > 0; length--) {
      const node = yaml.getIn(parts.slice(0, length), true) as { range?: [number, number, number] } | undefined
      if (node?.range != null) return lines.linePos(node.range[0]).line
    }
    return 1
  }
  const fail = (parts: readonly PropertyKey[], message: string): never => {
    const where = parts.map(String).join('.')
    throw new OptionError(`${path}:${lineOf(parts)}: ${where === '' ? 'the workload' : where}: ${sentence(message)}`)
  }
  let source: unknown
  try {
    source = yaml.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new OptionError(`${path}: ${sentence(error instanceof Error ? error.message : String(error))}`)
  }
  const result = workloadSchema.safeParse(source)
  if (!result.success) {
    const issue = result.error.issues[0]!
    if (issue.code === 'unrecognized_keys') fail([...issue.path, issue.keys[0]!], 'there is no such setting')
    const missing = valueAt(source, issue.path) === undefined
    fail(issue.path, missing ? 'is missing' : issue.message)
  }
  try {
    return compileWorkload(result.data!)
  } catch (error) {
    if (error instanceof WorkloadRuleError) return fail(error.path, error.message)
    throw error
  }
}

function valueAt(source: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (value === null || value === undefined ? undefined : (value as Record<PropertyKey, unknown>)[part]),
    source,
  )
}

const sentence = (text: string): string => text.split('\n')[0]!.replace(/\.$/, '')
