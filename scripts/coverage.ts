import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coverageTable } from '../test/coverage/table';

/** Writes the table of what covers what. */
writeFileSync(join(__dirname, '../docs/coverage.md'), coverageTable());
