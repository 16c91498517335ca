import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import type { Additions } from '../shared/api/endpoints';
import { InvalidInput } from '../shared/api/errors';
import { asText, parseAgentUuid, parseCampaignId } from '../shared/api/identifiers';
import { LIMITS } from '../shared/api/limits';
import { isJsonObject } from '../shared/json';
import type { NodeParameters } from '../shared/n8n/nodeParameters';
import type { StoreUse } from '../shared/n8n/nodeStore';
import { readAdditions } from '../shared/n8n/options';
import { runsAsTool } from '../shared/n8n/toolRun';
import { isUnset, quoted } from '../shared/values';
import { columnNames } from './feed/cells';
import type { ColumnChoice } from './feed/columns';
import type { CampaignTarget } from './feed/feed';
import { contactsFrom } from './feedRows';
import { isRowIndependent } from './rowIndependent';

export type FeedSettings = {
	campaign: CampaignTarget;
	columns: ColumnChoice;
	normalizePhones: boolean;
	removeDuplicates: boolean;
	contactsPerRequest: number;
	additions: Additions;
	/** Everything is checked and nothing is sent. */
	dryRun: boolean;
	/** Whether a number goes into the campaign once over all runs of the workflow. */
	skipFedBefore: boolean;
	/** Whether to find out what became of a request whose outcome is unknown. */
	lookUpUnknown: boolean;
};

/** What *Skip Numbers Fed Before* remembers its numbers in. */
export const FED_STORE: StoreUse = {
	message:
		"n8n's memory of the numbers fed before can't be read or written, so what is left of the feed was not sent",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check the database, or turn off 'Skip Numbers Fed Before'.",
};

/** How the outcome is shown. */
export type Presentation = {
	output: 'requests' | 'summary' | 'rows';
	withDuplicates: boolean;
};

export const usualPresentation: Presentation = { output: 'requests', withDuplicates: false };

/** Settings hold for the whole feed and are read once, from its first row. */
const FIRST = 0;
const READS_PER_BREATH = 200;

export function readPresentation(parameters: NodeParameters): Presentation {
	const options = parameters.record('options', FIRST);
	const output =
		options.output === 'summary' || options.output === 'rows' ? options.output : 'requests';
	// With an item a row, each row comes out of one of both outputs.
	return { output, withDuplicates: options.reportDuplicates === true || output === 'rows' };
}

export async function readFeedSettings(
	context: IExecuteFunctions,
	parameters: NodeParameters,
): Promise<FeedSettings> {
	await demandSameForAllRows(context, parameters, 'campaignId', 'Campaign ID');
	await demandSameForAllRows(context, parameters, 'agentUuid', 'Agent');
	await demandSameForAllRows(context, parameters, 'enqueue', 'Release to Calling Queue');
	const options = parameters.record('options', FIRST);
	const skipFedBefore = checkedSwitch(options.skipFedBefore ?? false, 'Skip Numbers Fed Before');
	return {
		campaign: checkCampaign(
			parameters.value('campaignId', FIRST),
			parameters.value('agentUuid', FIRST),
			parameters.value('enqueue', FIRST),
		),
		columns: {
			phone: phoneColumn(parameters),
			personName: parameters.text('personNameColumn', FIRST),
			lastName: parameters.text('options.lastNameColumn', FIRST),
			others: readOtherColumns(parameters),
			computed: computedColumns(context),
			forModel: runsAsTool(context),
			from: contactsFrom(context),
		},
		normalizePhones: options.normalizePhones !== false,
		// Once over all runs is once in this one too.
		removeDuplicates: options.removeDuplicates !== false || skipFedBefore,
		contactsPerRequest: checkContactsPerRequest(options.contactsPerRequest),
		additions: readAdditions(options),
		dryRun: checkedSwitch(options.dryRun ?? false, 'Dry Run'),
		skipFedBefore,
		lookUpUnknown: options.ifUnknown === 'lookUp',
	};
}

function phoneColumn(parameters: NodeParameters): string {
	const column = parameters.text('phoneColumn', FIRST);
	if (column !== '') return column;
	throw new InvalidInput(
		'Phone Column is empty, so nothing was sent',
		'Enter the name of the column that holds the phone numbers.',
	);
}

const COLUMN_FIELDS = [
	['phoneColumn', 'Phone Column'],
	['personNameColumn', 'Person Name Column'],
	['columnsToSend', 'Columns to Send'],
	['lastNameColumn', 'Last Name Column'],
] as const;

/** Before columns could be dragged here, dragging one wrote an expression that gives a value of it. */
function computedColumns(context: IExecuteFunctions): Set<string> {
	const { options, ...fields } = context.getNode().parameters;
	const raw = new Map<string, unknown>(
		Object.entries({ ...(isJsonObject(options) && options), ...fields }),
	);
	const computed = COLUMN_FIELDS.filter(([name]) => expressionOf(raw.get(name)) !== '');
	return new Set(computed.map(([, field]) => field));
}

function readOtherColumns(parameters: NodeParameters): ColumnChoice['others'] {
	const choice = parameters.value('otherColumns', FIRST);
	if (choice !== 'listed') return choice === 'none' ? 'none' : 'all';
	const listed = parameters.value('columnsToSend', FIRST);
	const columns = Array.isArray(listed)
		? listed.map((name) => String(name).trim()).filter((name) => name !== '')
		: columnNames(parameters.text('columnsToSend', FIRST));
	if (columns.length > 0) return columns;
	throw new InvalidInput(
		'Columns to Send is empty, so nothing was sent',
		'Enter the names of the columns to send, or choose another value in Other Columns.',
	);
}

/** @throws InvalidInput naming the field that must change */
function checkCampaign(id: unknown, agent: unknown, enqueue: unknown): CampaignTarget {
	return {
		id: parseCampaignId(id),
		agentUuid: parseAgentUuid(agent),
		enqueue: checkedSwitch(enqueue, 'Release to Calling Queue'),
	};
}

/** For a switch that decides whether people are called: guessing here could call a whole list of them. */
function checkedSwitch(value: unknown, label: string): boolean {
	if (typeof value === 'boolean') return value;
	throw new InvalidInput(
		`${label} holds ${quoted(value)}, which is neither on nor off, so nothing was sent`,
		'Use the switch, or an expression that gives true or false.',
	);
}

/** The documented most, unless a smaller number was asked for. */
function checkContactsPerRequest(value: unknown): number {
	const most = LIMITS.contactsPerRequest;
	const count = isUnset(value) ? most : Number(value);
	if (Number.isInteger(count) && count >= 1 && count <= most) return count;
	throw new InvalidInput(
		`Contacts per Request holds ${quoted(value)}, so nothing was sent`,
		`Enter a whole number from 1 to ${most.toLocaleString('en-US')}, which is the most that the service takes.`,
	);
}

/** A row that means another campaign must not silently land in that of the first row. */
async function demandSameForAllRows(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	name: string,
	label: string,
): Promise<void> {
	if (isRowIndependent(expressionOf(context.getNode().parameters[name]))) return;
	const first = asText(parameters.value(name, FIRST));
	for (let index = 1; index < context.getInputData().length; index++) {
		if (index % READS_PER_BREATH === 0) await sleep(0);
		if (asText(parameters.value(name, index)) === first) continue;
		throw new InvalidInput(
			`${label} is not the same for all rows (item ${index} differs from item ${FIRST}), so nothing was sent`,
			`One run of this node feeds one campaign. Split the rows first, for example with a Switch or Loop Over Items node, or enter a fixed ${label}.`,
		);
	}
}

/** The text of an expression, also of one inside a resource locator. */
function expressionOf(raw: unknown): string {
	const inner = typeof raw === 'object' && raw !== null && 'value' in raw ? raw.value : raw;
	return typeof inner === 'string' && inner.startsWith('=') ? inner : '';
}
