/** Which row an expression reads. n8n gives tools other rows than the one that asks, so they read by rules. */
import compact from 'lodash/compact';
import omit from 'lodash/omit';
import {
	NodeConnectionTypes,
	type IDataObject,
	type IExecuteFunctions,
	type ITaskData,
} from 'n8n-workflow';
import { hashOf } from '../../core/values/hash';
import { plainText } from '../../core/values/values';
import { executionDataOf, runIndexOf } from '../nodeRun';

/** Names of n8n with the same value for every row. What a function gets is looked at as well. */
const CONSTANT =
	/\$(?:(?:vars|env|secrets|workflow|execution|runIndex|now|today|if|ifEmpty|max|min|jmespath|tool|fromAI|fromAi|fromai)\b|[{\d]|\(\s*(?:"[^"\\]*"|'[^'\\]*')\s*\)\.(?:(?:first|last|all)\(|(?:isExecuted|params)\b))/g;
/** The items of the node, the same for each of them. For a tool, they have the arguments of the model. */
const ALL_ITEMS = /\$input\.(?:first|last|all)\(\)/g;
const MAY_DIFFER = /\$|\bthis\b|\\u/;

/**
 * Whether an expression, or one in a parameter, may refer to the current item. If it doesn't, it may still return another value each time, such as
 * the time, so its values can't be compared.
 */
export function mayNameRow(raw: unknown): boolean {
	return MAY_DIFFER.test(codeIn(raw).replace(ALL_ITEMS, ' '));
}

/** Those that end the code of an expression. After a backslash, they're a part of it. */
const CLOSING_BRACKETS = /(?<!\\)\}\}/;

/** The code in a parameter without constants, because the text around it may have any words. */
function codeIn(raw: unknown): string {
	if (typeof raw === 'object' && raw !== null) return Object.values(raw).map(codeIn).join('\n');
	if (typeof raw !== 'string' || !raw.startsWith('=')) return '';
	const [, ...parts] = raw.split('{{');
	const codes = parts.map((part) => part.split(CLOSING_BRACKETS)[0] ?? '');
	return codes.join('\n').replace(CONSTANT, ' ');
}

/** A column that an expression reads. */
const COLUMN =
	/\$json\s*(?:\??\.\s*([\p{L}_$][\p{L}\p{M}\p{N}_$]*)|(?:\?\.\s*)?\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])/gu;
const ROW = /\$json\b/g;
/** Not a sign in a text, such as in "US$ 5". */
const OTHER = /\$(?=\w|\s*\()/;

const OF_ANOTHER_NODE =
	'In n8n, use {{ $json.column }}: n8n gives a tool the first row of another node.';
const SEVERAL_ROWS =
	'In n8n, update the AI Agent node to version 3, or add Loop Over Items with batch size 1 before it.';
const AFTER_REVIEW =
	"In n8n, add Loop Over Items with batch size 1 before the agent: after a human review, n8n runs a tool for every row of the agent's input.";
const NO_ROW =
	"In n8n, let the model define the field with {{ $fromAI('name') }}: an MCP client has no row.";
const NAME_COLUMN = 'In n8n, name the column, as in {{ $json.column }}.';

/** The row that asks for a tool, without what the model gives, or why it isn't certain. */
type ToolRow = { columns: IDataObject; args: string[] } | { why: string };

/** n8n adds this argument to a request that a person has approved. */
const APPROVED = 'tool';

export function toolRowOf(context: IExecuteFunctions): ToolRow {
	const { node, data, source } = context.getExecuteData();
	const isRunByEngine = node.name === context.getNode().name;
	if (!isRunByEngine && source === null) return { why: NO_ROW };
	// Below version 3, an agent runs its tools on its whole input. A test in the editor uses the first row.
	const [item, ...others] = (isRunByEngine ? context.getInputData() : data.main?.[0]) ?? [];
	if (others.length > 0 && !node.type.endsWith('.toolExecutor')) return { why: SEVERAL_ROWS };
	const { json = {} } = item ?? {};
	const args = argumentsOf(context, json);
	if (args.includes(APPROVED) && !hasOneRow(context)) return { why: AFTER_REVIEW };
	return { columns: omit(json, ['toolCallId', ...args]), args };
}

/** Which fields of the item are arguments of a model. They replace columns with the same name. */
function argumentsOf(context: IExecuteFunctions, item: IDataObject): string[] {
	const { node } = context.getExecuteData();
	const runs = runsOf(context, node.name);
	const requestOf = (run?: ITaskData) =>
		run?.inputOverride?.[NodeConnectionTypes.AiTool]?.[0]?.[0]?.json;
	// An agent that is a tool of another one has the arguments of the requests to it.
	if (node.name !== context.getNode().name)
		return runs.flatMap((run) => Object.keys(requestOf(run) ?? {}));
	// If n8n doesn't show them, any column may be one.
	return Object.keys(requestOf(runs[runIndexOf(context)]) ?? item);
}

/** The node before the agent has one row, or in later rounds of a loop the agent itself: after a review, n8n names no other. */
function hasOneRow(context: IExecuteFunctions): boolean {
	const { previousNode = '' } = context.getExecuteData().metadata?.preservedSourceOverwrite ?? {};
	const outputs = runsOf(context, previousNode).at(-1)?.data?.main ?? [];
	return compact(outputs).flat().length === 1;
}

function runsOf(context: IExecuteFunctions, name: string): ITaskData[] {
	return executionDataOf(context)?.resultData.runData[name] ?? [];
}

/** The ID of a request that a person has approved. n8n repeats it for each row of the agent's input. */
export function approvedRequest(context: IExecuteFunctions): string | undefined {
	const { json = {} } = context.getInputData()[0] ?? {};
	return argumentsOf(context, json).includes(APPROVED) ? plainText(json.toolCallId) : undefined;
}

/** Why a tool can't read a parameter. Undefined if n8n gives it the value for the row that asks. */
export function whyUnread(context: IExecuteFunctions, raw: unknown): string | undefined {
	const code = codeIn(raw);
	if (OTHER.test(code.replace(ROW, ' '))) return OF_ANOTHER_NODE;
	if (code.search(ROW) < 0) return undefined;
	const row = toolRowOf(context);
	if ('why' in row) return row.why;
	const columns = Array.from(code.matchAll(COLUMN), ([, ...names]) => names.join(''));
	const replaced = columns.find((name) => row.args.includes(name));
	if (replaced !== undefined)
		return `Give no argument '${replaced}', because it replaces the column with this name. If the tool asks for it, rename it in n8n.`;
	const mayReadAny = row.args.length > 0 && code.replace(COLUMN, ' ').search(ROW) >= 0;
	return mayReadAny ? NAME_COLUMN : undefined;
}

/** Identifies a run of an agent for a row. It's the same for all its tool requests, also in a retry. */
export function agentRunOf(context: IExecuteFunctions): string {
	const { node, source } = context.getExecuteData();
	const [user] = Object.values(source ?? {}).flat();
	const row = toolRowOf(context);
	const { previousNode, previousNodeOutput, previousNodeRun } = user ?? {};
	const columns = 'why' in row ? undefined : row.columns;
	return hashOf([node.name, previousNode, previousNodeOutput, previousNodeRun, columns]);
}
