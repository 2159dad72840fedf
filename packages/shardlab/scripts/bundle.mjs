import { mkdirSync, rmSync } from 'node:fs'
import { writeCommands } from '../../../scripts/lib/program/write-commands.mjs'
import { writeProgram } from '../../../scripts/lib/program/write-program.mjs'
import { shardlabDependencies } from '../../../scripts/lib/release/packages.mjs'

const outdir = 'dist/bundle'
// Chunks of an earlier build have other names.
rmSync(outdir, { recursive: true, force: true })
mkdirSync(outdir, { recursive: true })
const packageJson = '../../package.json'
const places = { 'package.json': packageJson, scenarios: '../../../../test/scenarios' }
await writeCommands({ outdir, external: shardlabDependencies, places })
await writeProgram({ outdir, packageJson })
