import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Reference } from '../n8n/driver';
import { credentialType } from '../n8n/examples';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { sharedN8n } from './shared';

/** A simulator for one test file, and a credential for it in the shared n8n. */
export class TestAccount {
	private constructor(
		readonly n8n: N8nDriver,
		readonly simulator: Simulator,
		readonly credential: Reference,
	) {}

	static async open(): Promise<TestAccount> {
		// Unique, so that a search finds only this one.
		const token = randomBytes(8).toString('hex');
		const n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
		const simulator = await startSimulator({ dialect: dialects.plain, token });
		const data = credentialFor(simulator);
		const credential = await n8n.createCredential(credentialType, data);
		return new TestAccount(n8n, simulator, credential);
	}

	async close(): Promise<void> {
		await this.n8n.request('DELETE', `/credentials/${this.credential.id}`);
		await this.simulator.stop();
	}

	/** The files in n8n's user folder that contain the token, such as its database and log. */
	async filesWithToken(): Promise<string[]> {
		const { home } = sharedN8n();
		const found: string[] = [];
		for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
			const path = join(entry.parentPath, entry.name);
			if (!entry.isFile() || path.includes('node_modules')) continue;
			if ((await readFile(path)).includes(this.simulator.token)) found.push(path);
		}
		return found;
	}
}
