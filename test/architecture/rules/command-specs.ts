import { exportedRows, type BuiltModule, type CommandModules, type Row } from '../model/command-tables.js'
import type { Finding } from '../model/repository.js'

/** A specification of a command, as far as the rule compares it. */
export interface Spec {
  readonly name: string
  readonly fields?: Readonly<Record<string, unknown>>
}

const isSpec = (value: unknown): value is Spec =>
  typeof value === 'object' && value !== null && 'name' in value && 'access' in value && 'manual' in value

/**
 * A command that routers and nodes serve has one specification, and the rows of both spread it. A
 * row may give a field of the specification another type, but it has the same fields.
 */
export function findRowsWithoutSpec(modules: readonly CommandModules[], specs: readonly BuiltModule[]): Finding[] {
  const findings: Finding[] = []
  const byName = new Map<string, { readonly spec: Spec; readonly path: string }>()
  for (const { path, exports } of specs)
    for (const spec of Object.values(exports ?? {}).filter(isSpec)) byName.set(spec.name, { spec, path })
  const tables = modules.map(({ folder, entry }) => ({ folder, path: entry.path, rows: exportedRows(entry.exports) }))
  const routed = tables.find(({ folder }) => folder === 'mongos')?.rows ?? new Set<Row>()
  const used = new Set<string>()
  for (const { folder, path, rows } of tables) {
    if (folder === 'mongos' || folder === 'member') continue
    for (const row of rows) {
      const other = [...routed].find(({ name }) => name === row.name)
      if (other === undefined || other === row || used.has(row.name)) continue
      used.add(row.name)
      const found = byName.get(row.name)
      if (found === undefined) {
        const message = `mongos and ${folder} serve '${row.name}', which has no file in packages/member/src/specs`
        findings.push({ path, line: 0, message })
        continue
      }
      for (const [of, each] of [['mongos', other] as const, [folder, row] as const])
        for (const field of differences(found.spec, each))
          findings.push({
            path: found.path,
            line: 0,
            message: `the row '${row.name}' of ${of} does not take ${field} from the specification`,
          })
    }
  }
  for (const [name, { path }] of byName)
    if (!used.has(name)) findings.push({ path, line: 0, message: `'${name}' is not served by both routers and nodes` })
  return findings
}

function differences(spec: Spec, row: Row): string[] {
  const values = row as unknown as Readonly<Record<string, unknown>>
  return Object.entries(spec).flatMap(([key, value]) => {
    if (values[key] === value) return []
    if (key === 'fields' && sameKeys(value as object, values[key])) return []
    return [key]
  })
}

function sameKeys(a: object, b: unknown): boolean {
  return typeof b === 'object' && b !== null && Object.keys(a).sort().join() === Object.keys(b).sort().join()
}
