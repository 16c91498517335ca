import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parse } from 'flatted';
import { z } from 'zod';
import { until } from '../../n8n/until';

const rows = z.array(z.object({ id: z.number(), status: z.string(), data: z.string() }));
const run = z.object({ startTime: z.number(), executionTime: z.number() });
const stored = z.object({ resultData: z.object({ runData: z.record(z.array(run)) }) });

/** When a node ran, in epoch milliseconds. */
type Span = { node: string; from: number; to: number };

type Execution = { id: number; spans: Span[]; data: string };

/** The executions of a workflow in n8n's database, because its REST API is slow with 100,000 rows. */
export class Executions {
	private readonly database: DatabaseSync;

	constructor(home: string) {
		const file = join(home, '.n8n', 'database.sqlite');
		this.database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
	}

	/** The ID of the newest execution, or 0. */
	last(workflowId: string): number {
		const query = 'select coalesce(max(id), 0) as id from execution_entity where workflowId = ?';
		return z.object({ id: z.number() }).parse(this.database.prepare(query).get(workflowId)).id;
	}

	/** Waits until `count` executions after an earlier one have ended, and returns them. */
	async ended(workflowId: string, after: number, count = 1): Promise<Execution[]> {
		const where = 'from execution_entity e where e.workflowId = ? and e.id > ?';
		const counted = this.database.prepare(
			`select count(*) as count ${where} and e.status in ('success', 'error', 'crashed', 'canceled')`,
		);
		const enough = () =>
			z.object({ count: z.number() }).parse(counted.get(workflowId, after)).count >= count;
		await until(`${count} executions`, () => enough(), {
			timeout: 300_000,
			every: 20,
		});
		const query = this.database.prepare(
			`select e.id, e.status, d.data ${where.replace(' where', ' join execution_data d on d.executionId = e.id where')}`,
		);
		return rows.parse(query.all(workflowId, after)).map(({ id, status, data }) => {
			if (status !== 'success')
				throw new Error(`Execution ${id}: ${status} ${data.slice(0, 2000)}`);
			return { id, data, spans: spansIn(data) };
		});
	}

	close(): void {
		this.database.close();
	}
}

function spansIn(data: string): Span[] {
	const { runData } = stored.parse(parse(data)).resultData;
	return Object.entries(runData).flatMap(([node, runs]) =>
		runs.map(({ startTime: from, executionTime }) => ({ node, from, to: from + executionTime })),
	);
}
