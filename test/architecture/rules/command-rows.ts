import { exportedRows, rowsOf, type CommandModules, type Row } from '../model/command-tables.js'
import type { Finding } from '../model/repository.js'

/**
 * One command, one file, one row (law 7): every row file exports one row, and the tables of the
 * package have exactly these rows.
 */
export function findCommandsOutsideTables(modules: readonly CommandModules[]): Finding[] {
  return modules.flatMap(({ folder, entry, rowFiles }): Finding[] => {
    const inTables = exportedRows(entry.exports)
    const inFiles = new Set<Row>()
    const findings: Finding[] = []
    for (const file of rowFiles) {
      const { path } = file
      const rows = rowsOf(file)
      if (file.exports === null) findings.push({ path, line: 0, message: 'is not built' })
      else if (rows.length !== 1)
        findings.push({ path, line: 0, message: `exports ${rows.length} command rows: one command, one file, one row` })
      for (const row of rows) {
        inFiles.add(row)
        if (!inTables.has(row))
          findings.push({
            path,
            line: 0,
            message: `the row '${row.name}' is in no command table that ${folder} exports`,
          })
      }
    }
    // A role's table may hold rows of the floor below, which are checked there.
    const foreign = new Set(
      modules.filter((other) => other.folder !== folder).flatMap(({ rowFiles }) => rowFiles.flatMap(rowsOf)),
    )
    for (const row of inTables) {
      if (!inFiles.has(row) && !foreign.has(row))
        findings.push({
          path: entry.path,
          line: 0,
          message: `the row '${row.name}' has no file of its own in a folder commands or rows`,
        })
      findings.push(...incomplete(row).map((message) => ({ path: entry.path, line: 0, message })))
    }
    return findings
  })
}

function incomplete(row: Row): string[] {
  const messages: string[] = []
  const isWhole = !row.missing && !row.lacks && (row.deviations ?? []).length === 0
  if (row.status === 'partial' && isWhole)
    messages.push(`the row '${row.name}' is partial and names nothing that is missing, that it lacks, or that deviates`)
  if (row.status === 'full' && !isWhole) messages.push(`the row '${row.name}' says that it is full and how it differs`)
  if (!row.summary.endsWith('.')) messages.push(`the summary of '${row.name}' is no sentence`)
  if (row.privileges === undefined) messages.push(`the row '${row.name}' says nothing about privileges`)
  if (!row.manual.startsWith('reference/')) messages.push(`the row '${row.name}' names no page of the manual`)
  return messages
}
