import { execFileSync } from 'node:child_process';
import range from 'lodash/range';
import { N8nDriver } from '../n8n/driver';
import { connect, externalFolder, externalN8n } from '../n8n/external';
import { installHost } from '../n8n/host';
import { newHome, packedPackage, projectFolder } from '../n8n/package-install';
import { LAZY_EXPRESSIONS, N8nServer, placesIn } from '../n8n/server';
import { prepareThirdParties } from '../n8n/thirdParties';
import { publish, type SharedServer } from './shared';

/**
 * Starts one n8n with the packed package for each worker, so that test files don't share one at the same time. Tests that
 * kill n8n start their own. With N8N_URL, the only worker uses that n8n.
 */
export default async function setup({ maxWorkers }: { maxWorkers: number }): Promise<void> {
	// On a signal, exit normally, so that the exit handlers end n8n, too.
	for (const signal of ['SIGINT', 'SIGTERM'] as const)
		process.once(signal, () => process.exit(130));
	if (externalN8n !== undefined) {
		await connect(externalN8n);
		publish({ server: externalN8n, folder: externalFolder() });
		return;
	}
	const host = await installHost(console.log);
	if (packedPackage === undefined)
		execFileSync('npm', ['run', '--silent', 'build'], { cwd: projectFolder, stdio: 'inherit' });
	const starting = range(maxWorkers).map(async () => await start(host));
	for (const server of await Promise.all(starting)) publish(server);
}

async function start(host: string): Promise<SharedServer> {
	const home = await newHome();
	const { place, env } = await prepareThirdParties(home);
	// They save half of the CPU time of most tests. Tests that kill n8n have its defaults.
	const server = await N8nServer.start({ host, home, env: { ...LAZY_EXPRESSIONS, ...env } });
	// Sign in here, because test files can't share a session through the environment.
	await N8nDriver.signIn(server.baseUrl);
	const folder = { ...placesIn(home), thirdParties: place };
	return { server, folder };
}
