import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import {
	isSafeObjectProperty,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type ISourceData,
} from 'n8n-workflow';
import { shortFingerprint } from '../../core/values/hash';
import { plainText } from '../../core/values/values';
import { agentInput, inExpression, mcpSessionOf } from './agentRun';
import { setToolRun, runsAsTool, toolRunOf } from './toolRun';

/** The ID of the tool request, which an agent adds to the row. */
export const TOOL_CALL_ID = 'toolCallId';

const KEY_CHARACTERS = 12;

/** A row of the agent's input, and where n8n has it. Without a place, it's the input item of the same index. */
export type Row = { json: IDataObject; place?: { source: ISourceData; item: number } };

/**
 * Which row of its input an AI agent processes when it uses this node, as a tool or for human review.
 *
 * - From AI Agent 3 on, n8n's engine runs the node on one item: the row with the model's arguments, which replace columns
 *   with the same name. The row is the one that equals the item in all other columns.
 * - Older agents run the node on their whole input. If that has several rows, any of them may be asking.
 */
export type AskingRow = {
	/** All rows of the agent. */
	rows: readonly Row[];
	/** Those that may be asking. Equal rows count as one. */
	possible: readonly Row[];
	/** Distinguishes the row. Undefined if the agent has only one, or if it isn't certain which one asks. */
	key?: string | undefined;
	/** The item on which the engine runs the node. */
	item?: IDataObject;
};

/** Found once in a run of the node. */
export function askingRowOf(context: IExecuteFunctions): AskingRow {
	const known = toolRunOf(context).askingRow;
	if (known !== undefined) return known;
	const askingRow = findAskingRow(context);
	setToolRun(context, { askingRow });
	return askingRow;
}

/** The fields of the row. Undefined if it isn't certain which one asks. */
export function certainRow({ possible }: AskingRow): IDataObject | undefined {
	return areDifferent(possible) ? undefined : possible[0]?.json;
}

export function isOneOfSeveral({ rows }: AskingRow): boolean {
	return areDifferent(rows);
}

/** Whether it isn't certain which of several rows asks. */
export function isUncertain(asking: AskingRow): boolean {
	return asking.key === undefined && isOneOfSeveral(asking);
}

function areDifferent([first, ...others]: readonly Row[]): boolean {
	return others.some(({ json }) => !isEqual(json, first?.json));
}

export function keyOf({ json }: Row): string {
	return shortFingerprint(json, KEY_CHARACTERS);
}

/** The ID of the tool request. Undefined if an older agent or an MCP client uses the tool. */
export function toolCallIdOf(context: IExecuteFunctions): string | undefined {
	return plainText(askingRowOf(context).item?.[TOOL_CALL_ID]) || undefined;
}

/** The row on which a tool works, without the model's arguments. Undefined if it isn't certain, or if there is none. */
export function toolRow(context: IExecuteFunctions): IDataObject | undefined {
	return mcpSessionOf(context) === undefined ? certainRow(askingRowOf(context)) : undefined;
}

/** The rows of the input. As a tool, only the one that asks. */
export function inputRows(context: IExecuteFunctions): INodeExecutionData[] {
	if (!runsAsTool(context)) return context.getInputData();
	return [{ json: toolRow(context) ?? {} }];
}

function findAskingRow(context: IExecuteFunctions): AskingRow {
	const { node, data } = context.getExecuteData();
	if (node.name === context.getNode().name) return findInItem(context);
	// An older agent, an MCP Server Trigger, or a test in the editor, which uses the first row.
	const items = data.main?.[0] ?? [];
	const isFirst = node.executeOnce === true || node.type.endsWith('.toolExecutor');
	const rows = isFirst ? items.slice(0, 1) : items;
	return { rows, possible: rows };
}

function findInItem(context: IExecuteFunctions): AskingRow {
	const item = context.getInputData()[0]?.json ?? {};
	const args = [TOOL_CALL_ID, ...argumentsIn(context, item)];
	const found = agentInput(context).flatMap(({ source, items }): Row[] =>
		items.map(({ json }, index) => ({ json, place: { source, item: index } })),
	);
	const isFitting = ({ json }: Row) => isShown(json, item, args);
	// If no row fits, it may be one that n8n doesn't show here.
	const rows = found.some(isFitting) ? found : [...found, { json: omit(item, args) }];
	const fitting = found.filter(isFitting);
	const possible = fitting.length > 0 ? fitting : rows;
	// For the key, a model that repeats a column, such as a phone number, means its own row.
	const exact = fitting.filter(({ json }) => isShown(json, item, [TOOL_CALL_ID]));
	const [first, ...others] = exact.length > 0 ? exact : possible;
	const isKnown = first !== undefined && areDifferent(rows) && !areDifferent([first, ...others]);
	return { rows, possible, key: isKnown ? keyOf(first) : undefined, item };
}

/** Whether the item has all columns of the row, except these. */
export function isShown(row: IDataObject, item: IDataObject, except: string[] = []): boolean {
	return Object.keys(row).every((name) => except.includes(name) || isEqual(row[name], item[name]));
}

/** The fields that the model gave. It may also invent some, because n8n doesn't check them. */
function argumentsIn(context: IExecuteFunctions, item: IDataObject): string[] {
	const names = Object.keys(item).filter(
		(name) => isSafeObjectProperty(name) && /^[\w-]{1,64}$/.test(name),
	);
	const list = `[${names.map(inExpression).join(', ')}]`;
	const found: unknown = context.evaluateExpression(
		`{{ ${list}.map((name) => $fromAI(name) ?? null) }}`,
		0,
	);
	const given: unknown[] = Array.isArray(found) ? found : [];
	// n8n returns no value for null, which a model may give, too.
	return names.filter((name, index) => isEqual(given[index], item[name]));
}
