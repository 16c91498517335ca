import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import type { IDataObject, IExecuteFunctions, ISourceData } from 'n8n-workflow';
import { hashOf } from '../../core/values/hash';
import { plainText } from '../../core/values/values';
import { agentInput, agentRunOf, argumentNames, isReviewed } from './agentRun';

/** The AI agent that uses the node. What n8n shows of it is found on first use. */
export class Agent {
	private knownRun: string | undefined;
	private knownRow: AskingRow | undefined;

	constructor(private readonly context: IExecuteFunctions) {}

	/** Identifies its run. */
	get run(): string {
		return (this.knownRun ??= agentRunOf(this.context));
	}

	/** The row of its input that asks. */
	get row(): AskingRow {
		return (this.knownRow ??= findAskingRow(this.context));
	}

	/** The ID of the tool request. Undefined with older agents. */
	get toolCallId(): string | undefined {
		return plainText(this.row.item?.[TOOL_CALL_ID]) || undefined;
	}

	/** Whether a person has approved the request. */
	get isReviewed(): boolean {
		return isReviewed(this.context);
	}
}

/** The ID of the tool request, which an agent adds to the row. */
export const TOOL_CALL_ID = 'toolCallId';

/** A row of the agent's input, and where n8n has it. Without a place, it's the input item of the same index. */
export type AgentRow = { json: IDataObject; place?: { source: ISourceData; item: number } };

/**
 * Which row of its input an AI agent processes when it uses this node as a tool.
 *
 * - From AI Agent 3 on, n8n's engine runs the node on one item: the row with the model's arguments, which replace columns
 *   with the same name. The row is the one that has all other columns of the item, with the same values, and no more.
 * - Older agents run the node on their whole input. If that has several rows, any of them may be asking.
 */
export class AskingRow {
	/** The columns of the row, without the model's arguments. Undefined if several rows may be asking. */
	readonly columns: IDataObject | undefined;
	/** The only row, a certain one of several, or any of several. */
	readonly which: 'only' | 'known' | 'uncertain';
	/** Distinguishes a certain one of several. */
	readonly key: string | undefined;

	/**
	 * @param rows all rows of the agent
	 * @param possible those that may be asking. Equal rows count as one.
	 * @param item the item on which the engine runs the node
	 * @param meant for the key: the possible rows, or those of them that the model means
	 */
	constructor(
		readonly rows: readonly AgentRow[],
		readonly possible: readonly AgentRow[],
		readonly item?: IDataObject,
		meant = possible,
	) {
		this.columns = areDifferent(possible) ? undefined : possible[0]?.json;
		const isOnly = !areDifferent(rows);
		const [certain] = isOnly || areDifferent(meant) ? [] : meant;
		this.key = certain && keyOf(certain);
		this.which = isOnly ? 'only' : certain === undefined ? 'uncertain' : 'known';
	}
}

function areDifferent([first, ...others]: readonly AgentRow[]): boolean {
	return others.some(({ json }) => !isEqual(json, first?.json));
}

function keyOf({ json }: AgentRow): string {
	return hashOf(json);
}

function findAskingRow(context: IExecuteFunctions): AskingRow {
	const { node, data } = context.getExecuteData();
	if (node.name === context.getNode().name) return findInItem(context);
	// An older agent, or a test in the editor, which uses the first row.
	const items = data.main?.[0] ?? [];
	const isFirst = node.executeOnce === true || node.type.endsWith('.toolExecutor');
	const rows = isFirst ? items.slice(0, 1) : items;
	return new AskingRow(rows, rows);
}

function findInItem(context: IExecuteFunctions): AskingRow {
	const item = context.getInputData()[0]?.json ?? {};
	const names = argumentNames(context);
	const args = [TOOL_CALL_ID, ...(names ?? Object.keys(item))];
	const found = agentInput(context).flatMap(({ source, items }): AgentRow[] =>
		items.map(({ json }, index) => ({ json, place: { source, item: index } })),
	);
	// Without the names, nothing tells which columns are the row's own.
	const isFitting = ({ json }: AgentRow) => names !== undefined && hasSameColumns(json, item, args);
	// If no row fits, it may be one that n8n doesn't show here.
	const rows = found.some(isFitting) ? found : [...found, { json: omit(item, args) }];
	// n8n runs an approved tool once for each row, with the fields of that row.
	if (isReviewed(context)) return new AskingRow(rows, rows, item);
	const fitting = found.filter(isFitting);
	const possible = fitting.length > 0 ? fitting : rows;
	// For the key, a model that repeats a column, such as a phone number, means its own row.
	const others = args.filter(
		(name) => name === TOOL_CALL_ID || !fitting.some(({ json }) => name in json),
	);
	const exact = fitting.filter(({ json }) => hasSameColumns(json, item, others));
	return new AskingRow(rows, possible, item, exact.length > 0 ? exact : possible);
}

function hasSameColumns(row: IDataObject, item: IDataObject, except: string[]): boolean {
	return isShown(row, item, except) && isShown(item, row, except);
}

/** Whether the item has all columns of the row, except these. */
export function isShown(row: IDataObject, item: IDataObject, except: string[] = []): boolean {
	return Object.keys(row).every((name) => except.includes(name) || isEqual(row[name], item[name]));
}
