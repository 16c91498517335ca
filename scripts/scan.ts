/**
 * Runs n8n's package scanner on the sources and on the packed package, as its verification does, and on the sources
 * with flattened descriptions.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ESLint } from 'eslint';
import { projectFolder, unpackPackage } from '../test/n8n/package-install';
import { writeFlatSources } from './flatDescriptions';

/** The days of a week aren't in alphabetical order, and a model gets fewer calls than a workflow. */
const MEANINGFUL = {
	'n8n-nodes-base/node-param-multi-options-type-unsorted-items': 'off',
	'n8n-nodes-base/node-param-default-wrong-for-limit': 'off',
} as const;

async function scan(): Promise<void> {
	const scanner = await import('@n8n/scan-community-package/scanner/scanner.mjs');
	const packed = await mkdtemp(join(tmpdir(), 'scan-'));
	const flat = await mkdtemp(join(tmpdir(), 'scan-flat-'));
	try {
		await unpackPackage(packed);
		await writeFlatSources(flat);
		const targets = [
			{ name: 'Sources', folder: projectFolder, patterns: scanner.SOURCE_FILE_PATTERNS },
			{ name: 'Flattened sources', folder: flat, patterns: scanner.SOURCE_FILE_PATTERNS },
			{ name: 'Packed package', folder: packed, patterns: ['**/*.js', 'package.json'] },
		];
		for (const { name, folder, patterns } of targets) {
			const config = await scanner.buildScanConfig();
			const eslint = new ESLint({
				cwd: folder,
				allowInlineConfig: false,
				overrideConfigFile: true,
				overrideConfig: folder === flat ? [...config, { rules: MEANINGFUL }] : config,
			});
			// Format the results here, because the scanner ignores warnings.
			const results = await eslint.lintFiles(patterns);
			const findings = await (await eslint.loadFormatter('stylish')).format(results);
			console.log(`${name}: ${findings === '' ? `passed, ${results.length} files` : findings}`);
			if (findings !== '') process.exitCode = 1;
		}
	} finally {
		for (const folder of [packed, flat]) await rm(folder, { recursive: true, force: true });
	}
}

void scan();
