import { writeProgram } from '../../../scripts/lib/program/write-program.mjs'

await writeProgram({ outdir: 'dist/bundle', packageJson: '../../package.json' })
