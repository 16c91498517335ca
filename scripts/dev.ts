/** `npm run dev`: like `npm start`, but applies changes of source files to the running n8n. */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, watch } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { installedPackage, projectFolder } from '../test/n8n/package-install';
import { endGroup } from '../test/n8n/command';
import { reportFailure, runSession } from './session';

runSession({
	command: 'npm run dev',
	// Makes n8n watch the folder of each package and reload its nodes.
	env: { N8N_DEV_RELOAD: 'true', NODE_ENV: 'development' },
	started: ({ home }) => {
		// Compile into the installed package, because n8n doesn't reload the modules of a linked package.
		const target = join(installedPackage(home), 'dist');
		const stopWatching = [
			watchTypeScript(target),
			...['nodes', 'credentials'].map(watchAssets(target)),
		];
		console.log('Watching the sources. Reload the browser tab to see changed nodes.');
		return () => {
			for (const stop of stopWatching) stop();
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
	const stop = () => endGroup(compiler, 'SIGKILL');
	process.once('exit', stop);
	return stop;
}

/** Copies changed icons and codex files, which the compiler doesn't copy. */
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
