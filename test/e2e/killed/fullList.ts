import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import range from 'lodash/range';
import { CLAIM_LIMITS } from '../../../nodes/core/claims/claims';
import { CrashBench, type Scene } from '../../long/crash/crashBench';
import { writers } from '../../long/crash/writers';
import type { N8nServer } from '../../n8n/server';
import type { Part } from './part';

/** So many newer claims of other executions that n8n has dropped those of the killed one. */
function dropClaims({ home }: N8nServer, workflowId: string): void {
	const hash = (nth: number) => createHash('md5').update(`other ${nth}`).digest('base64');
	const value = { mode: 'entries', data: range(CLAIM_LIMITS.others).map(hash) };
	const database = new DatabaseSync(join(home, '.n8n', 'database.sqlite'), { timeout: 10_000 });
	try {
		const update =
			"UPDATE processed_data SET value = ? WHERE workflowId = ? AND context LIKE 'n:%'";
		const { changes } = database.prepare(update).run(JSON.stringify(value), workflowId);
		if (changes !== 1) throw new Error(`${changes} lists of claims`);
	} finally {
		database.close();
	}
}

/** A retry of an execution whose claims n8n may have dropped. */
export function fullList(): Part {
	let server: N8nServer;
	let bench: CrashBench;
	let scene: Scene;

	return {
		async arrange(started) {
			server = started;
			bench = await CrashBench.start(server);
			const [call] = writers;
			if (call === undefined) throw new Error('no writer');
			scene = await bench.hangInWriter(call, { onError: 'continueRegularOutput' });
		},
		whileKilled: async () => dropClaims(server, scene.execution.workflowId),
		afterKill: async () => await bench.n8n.signIn(),
		stop: async () => await bench.simulator.stop(),
		tests() {
			it('after a kill and 100,000 newer claims, calls nobody, and says why', async () => {
				const { before, after, output } = await bench.retryScene(scene);
				expect(after).toBe(before);
				expect(output).toBe('u'.repeat(scene.items.length));
				const [retried] = await bench.n8n.executions({ id: scene.execution.workflowId, name: '' });
				const items = await bench.n8n.output(retried?.id ?? '', scene.writer.name);
				expect(items[0]?.json.error).toContain('may have dropped those of an earlier attempt');
			});
		},
	};
}
