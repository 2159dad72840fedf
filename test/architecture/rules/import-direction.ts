import { posix } from 'node:path'
import { floors, folderOfName, notImported, onlyOfOurs } from '../model/floors.js'
import { packageOfSpecifier, type Import } from '../model/imports.js'
import type { Finding, Repository, SourceFile, Workspace } from '../model/repository.js'

/**
 * Imports go downward, through package entries, and never leave their package by a relative path.
 */
export function findImportsThatClimb(repository: Repository): Finding[] {
  const findings: Finding[] = []
  for (const workspace of [...repository.packages, repository.test]) {
    if (workspace.folder !== 'test' && workspace.floor === undefined) {
      findings.push({
        path: workspace.path,
        line: 0,
        message: `package ${workspace.folder} has no floor: add it to test/architecture/model/floors.ts`,
      })
    }
    for (const file of [...workspace.sources, ...workspace.tests]) {
      const isSource = workspace.sources.includes(file)
      for (const item of file.imports) {
        // Tests may name built files, including programs of other packages.
        if (item.form === 'url' && !isSource) continue
        const message = item.specifier.startsWith('.')
          ? relativeProblem(workspace, file, item)
          : nameProblem(repository, workspace, file, item)
        if (message !== null) findings.push({ path: file.path, line: item.line, message })
      }
    }
  }
  return findings
}

function relativeProblem(workspace: Workspace, file: SourceFile, item: Import): string | null {
  const target = posix.join(posix.dirname(file.path), item.specifier)
  if (!target.startsWith(`${workspace.path}/`)) {
    return `'${item.specifier}' leaves the package by a relative path: import the other package by its name`
  }
  // Output of a build step, such as a bundle, is shipped too.
  const shipped = ['src', ...(workspace.manifest.files ?? []).map((folder) => folder.replace(/^dist\//, ''))]
  if (
    file.path.startsWith(`${workspace.path}/src/`) &&
    !shipped.some((folder) => target.startsWith(`${workspace.path}/${folder}/`))
  ) {
    return `'${item.specifier}' leads from src to files that are not shipped`
  }
  if (item.form !== 'url' && !/\.(js|json)$/.test(item.specifier)) return `'${item.specifier}' must end in .js`
  return null
}

function nameProblem(repository: Repository, workspace: Workspace, file: SourceFile, item: Import): string | null {
  const name = packageOfSpecifier(item.specifier)
  const folder = folderOfName(name)
  if (folder === undefined) return null
  const isTest = !workspace.sources.includes(file)
  if (item.specifier === `${name}/testing` && !isTest) return `'${item.specifier}' is for tests only and is not shipped`
  const { exports = {} } = repository.packages.find((each) => each.folder === folder)?.manifest ?? {}
  const entry = `.${item.specifier.slice(name.length)}`
  if (entry !== '.' && entry !== './testing' && !Object.hasOwn(exports, entry))
    return `'${item.specifier}' is a deep import: use what ${name} exports`
  // Tests may import their own package by name, to test its exports.
  if (folder === workspace.folder) return isTest ? null : `'${name}' is this package itself: use a relative path`
  const floor = floors[folder]
  if (floor === undefined) return `'${name}' has no floor: add it to test/architecture/model/floors.ts`
  if (workspace.floor === undefined) return null
  const allowed = onlyOfOurs[workspace.folder]
  if (allowed !== undefined && !allowed.includes(folder)) {
    return `${workspace.folder} reaches a cluster through the official driver only: no import of '${name}'`
  }
  if (!isTest && notImported[workspace.folder]?.includes(folder) === true)
    return `${workspace.folder} must not import '${name}': move what both need to a lower floor`
  if (floor > workspace.floor)
    return `'${name}' (floor ${floor}) is above ${workspace.folder} (floor ${workspace.floor}): imports go downward`
  if (floor === workspace.floor)
    return `'${name}' is on the same floor as ${workspace.folder}: they share only messages and the floors below`
  return null
}
