/** `npm run dev`: like `npm start`, and reloads the nodes when a source file changes. */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, watch } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { installPackage, installedPackage, projectFolder } from '../test/n8n/package-install';
import { build } from './build';
import { endGroup } from '../test/n8n/command';
import { reportFailure, runSession } from './session';

runSession({
	command: 'npm run dev',
	// With this, n8n watches the folder of each package and reloads its nodes when a file changes.
	env: { N8N_DEV_RELOAD: 'true', NODE_ENV: 'development' },
	install: async (home) => {
		build(console.log);
		await installPackage(home);
	},
	started: ({ n8n }) => {
		// Written to the folder that n8n loads from. For a linked package, n8n would keep the old modules.
		const target = join(installedPackage(n8n.home), 'dist');
		const endings = [watchTypeScript(target), ...['nodes', 'credentials'].map(watchAssets(target))];
		console.log('Watching the sources. Reload the browser tab to see changes.');
		return () => {
			for (const end of endings) end();
		};
	},
}).catch(reportFailure);

function watchTypeScript(target: string): () => void {
	const options = ['--watch', '--preserveWatchOutput', '--outDir', target];
	const compiler = spawn('tsc', ['--project', 'tsconfig.json', ...options], {
		cwd: projectFolder,
		stdio: ['ignore', 'inherit', 'inherit'],
		detached: true,
	});
	const end = () => endGroup(compiler, 'SIGKILL');
	process.once('exit', end);
	return end;
}

/** Icons, codex, and schema files, which the compiler doesn't copy. */
function watchAssets(target: string): (folder: string) => () => void {
	return (folder) => {
		const root = join(projectFolder, folder);
		const watcher = watch(root, { recursive: true }, (_event, name) => {
			if (name === null || !/\.(svg|json)$/.test(name)) return;
			const source = join(root, name);
			if (!existsSync(source)) return;
			const copy = join(target, relative(projectFolder, source));
			mkdirSync(dirname(copy), { recursive: true });
			copyFileSync(source, copy);
		});
		return () => watcher.close();
	};
}
