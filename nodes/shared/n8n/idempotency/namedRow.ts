import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { isJsonObject } from '../../json';

const ENTRIES = { mode: 'entries' } as const;

/** n8n stores the mode of a row as text. It throws before it writes if the row has another one. */
type RowsWithOwner = {
	checkProcessedAndRecord(
		texts: string[],
		scope: 'node',
		options: { mode: string },
	): Promise<unknown>;
};

/** In n8n's message about another mode. Nodes can't import the class of the error. */
const OTHER_MODE = 'incompatible setting';

/**
 * A row with a name in n8n's deduplication store, beside the one of the node. The database has one row per workflow and
 * node ID. If several processes insert it at the same moment, only one succeeds. n8n offers nodes no other step that
 * happens once in all processes.
 */
export class NamedRow {
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly name: string,
	) {}

	/**
	 * Inserts the row unless it exists.
	 *
	 * @returns whether this owner inserted it, now or earlier
	 * @throws the error of n8n's database
	 */
	async insert(owner: string): Promise<boolean> {
		const insert = async () => await this.insertOnce(owner);
		// If another process inserts the row at the same moment, n8n finds it the second time.
		return await insert().catch(insert);
	}

	async exists(): Promise<boolean> {
		const { helpers } = this.context;
		return (await this.use(async () => await helpers.getProcessedDataCount('node', ENTRIES))) > 0;
	}

	async delete(): Promise<void> {
		const { helpers } = this.context;
		await this.use(async () => await helpers.clearAllProcessedItems('node', ENTRIES));
	}

	private async insertOnce(owner: string): Promise<boolean> {
		const { helpers }: { helpers: RowsWithOwner } = this.context;
		const options = { mode: owner };
		return await this.use(
			async () => await helpers.checkProcessedAndRecord([''], 'node', options),
		).then(
			() => true,
			(error: unknown) => {
				if (error instanceof Error && error.message.includes(OTHER_MODE)) return false;
				throw error;
			},
		);
	}

	/** n8n reads the node's ID before it waits for its database, so nothing else sees the name. */
	private async use<T>(access: () => Promise<T>): Promise<T> {
		const node = nodeOf(this.context);
		const { id } = node;
		node.id = this.name;
		const result = access();
		node.id = id;
		return await result;
	}
}

/**
 * The node object that n8n's store uses. In a tool that an MCP Server Trigger or an older agent runs, `getExecuteData` has
 * the node of the trigger or the agent.
 */
function nodeOf(context: IExecuteFunctions): { id: string } {
	const node: unknown = Reflect.get(context, 'node');
	return hasId(node) ? node : context.getExecuteData().node;
}

function hasId(value: unknown): value is { id: string } {
	return isJsonObject(value) && typeof value.id === 'string';
}

const withSeparateRows = new WeakSet<IExecuteFunctions>();

/**
 * Whether this version of n8n has a row for each name. Otherwise, all names have the row of the node. That one may be
 * empty, and then it doesn't seem to exist, but no other owner can insert it.
 */
export async function areRowsSeparate(context: IExecuteFunctions): Promise<boolean> {
	if (withSeparateRows.has(context)) return true;
	const row = new NamedRow(context, randomUUID());
	if (!(await row.insert(randomUUID()))) return false;
	const isSeparate = !(await new NamedRow(context, randomUUID()).exists());
	await row.delete();
	if (isSeparate) withSeparateRows.add(context);
	return isSeparate;
}
