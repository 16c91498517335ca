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
			const eslint = new ESLint({
				cwd: folder,
				allowInlineConfig: false,
				overrideConfigFile: true,
				overrideConfig: await scanner.buildScanConfig(),
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
