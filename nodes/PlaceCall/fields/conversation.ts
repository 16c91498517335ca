import compact from 'lodash/compact';
import type { INodeProperties } from 'n8n-workflow';
import { requireOptOutKey } from '../../core/calls/callEnd';
import { InvalidInput } from '../../core/service/errors';
import { LIMITS } from '../../core/service/limits';
import type { DataExtractionItem } from '../../core/service/contractTypes';
import type { JsonObject, JsonValue } from '../../core/values/json';
import { type Fields, MAY_BE_BLANK } from '../../host/forms/fields';
import { requireReplaced } from '../../host/forms/placeholders';
import { hasNoValue, isNoValue } from '../../core/values/sheetCells';
import { withoutEnd } from '../../core/values/text';
import { isUnset, quoted } from '../../core/values/values';

const WORDS = /Invalid date\b|[^\s,;:"()]+/g;
const ENDING = /[.!?]/;

/**
 * The agent says these texts as they are.
 *
 * @param expression empty if the text is fixed
 * @throws InvalidInput if it has a placeholder, or the expression put a word such as NULL into a longer text
 */
export function requireSayable(label: string, expression: string, text: string): void {
	requireReplaced(`'${label}'`, expression, text);
	if (expression === '' || hasNoValue(text)) return;
	const words = [...text.matchAll(WORDS)].flatMap(([word]) => [word, withoutEnd(word, ENDING)]);
	// `#REF!.` ends with a dot.
	const word = words.flatMap((one) => [one, one.slice(0, -1)]).find(isNoValue);
	if (word === undefined) return;
	throw new InvalidInput(
		`'${label}' has the word ${quoted(word)} instead of a value`,
		`Correct '${label}', or the cells that its expression uses. The agent would say the word.`,
	);
}

export const initialGreeting: INodeProperties = {
	displayName: 'Initial Greeting',
	name: 'initialGreeting',
	type: 'string',
	typeOptions: { rows: 2 },
	default: '',
	placeholder: 'e.g. Hello, this is Priya from Sunrise Homes.',
	description: `The opening line of the agent when the call connects, at most ${LIMITS.initialGreetingCharacters} characters`,
};

export function readGreeting(options: Fields): string {
	const greeting = options.text(initialGreeting.name, MAY_BE_BLANK);
	requireSayable('Initial Greeting', options.expression(initialGreeting.name), greeting);
	const length = [...greeting].length;
	const max = LIMITS.initialGreetingCharacters;
	if (length <= max) return hasNoValue(greeting) ? '' : greeting;
	throw new InvalidInput(
		`'Initial Greeting' has ${length} characters, but the maximum is ${max}`,
		`Shorten it by ${length - max}.`,
	);
}

export const systemPrompt: INodeProperties = {
	displayName: 'System Prompt',
	name: 'systemPrompt',
	type: 'string',
	typeOptions: { rows: 5 },
	default: '',
	description: "Instructions that override the agent's system prompt, for this call only",
};

export const dataExtraction: INodeProperties = {
	displayName: 'Data Extraction',
	name: 'dataExtraction',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Data Point',
	default: {},
	description: 'The data points that the agent tries to extract in this call',
	options: [
		{
			displayName: 'Data Point',
			name: 'points',
			values: [
				{
					displayName: 'Description',
					name: 'description',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. Ask which day suits a visit',
					description: 'What the agent should ask or extract',
				},
				{
					displayName: 'Key',
					name: 'key',
					type: 'string',
					default: '',
					placeholder: 'e.g. visit_day',
					description:
						'The name of the value. The key visit_day is returned as the field captured_visit_day.',
				},
				{
					displayName: 'Output Format',
					name: 'outputFormat',
					type: 'string',
					default: '',
					placeholder: 'e.g. yes or no',
					description: 'The expected format of the value, in your own words',
				},
				{
					displayName: 'Required',
					name: 'required',
					type: 'boolean',
					default: false,
					description: 'Whether this value must be collected for the call to count as successful',
				},
			],
		},
	],
};

const OPT_OUT_WORDS =
	'Whether the person wants no more calls. Capture yes only if they clearly say so, no only if they clearly accept more calls, and otherwise: not said.';

/** A data point with our words, which a user may change. */
export const askAboutOptOut: INodeProperties = {
	displayName: 'Ask About Opt-Out',
	name: 'askAboutOptOut',
	type: 'string',
	typeOptions: { rows: 3 },
	default: OPT_OUT_WORDS,
	description:
		'Lets the agent capture whether the person wants no more calls, which the result has in opted_out. Yes must mean no more calls.',
};

function readOptOut(options: Fields, key: string | undefined): DataExtractionItem | undefined {
	if (key === undefined || !options.has(askAboutOptOut.name)) return undefined;
	const given = options.text(askAboutOptOut.name);
	requireReplaced("'Ask About Opt-Out'", options.expression(askAboutOptOut.name), given);
	const description = given === '' || hasNoValue(given) ? OPT_OUT_WORDS : given;
	return { key: requireOptOutKey(key), description, output_format: 'yes, no, or not said' };
}

/**
 * @param optOutKey of the credential. Undefined if that is invalid.
 * @param question the data point of *Ask and Wait*, after the others
 */
export function readDataPoints(
	options: Fields,
	optOutKey: string | undefined,
	question?: DataExtractionItem,
): DataExtractionItem[] {
	const own = options.rows(dataExtraction.name).map((row, i) => dataPoint(row, i + 1));
	const optOut = readOptOut(options, optOutKey);
	const points = compact([...own, optOut, question]);
	const keys = compact(points.map(({ key }) => key));
	const repeated = keys.find((key, at) => keys.indexOf(key) < at);
	if (repeated === undefined) return points;
	// Only one of the answers would be returned.
	throw new InvalidInput(
		`Several data points have the key ${quoted(repeated)}`,
		"Give each its own key in 'Data Extraction'. 'Question' and 'Ask About Opt-Out' add data points, too, whose texts you can change.",
	);
}

function dataPoint(row: Fields, position: number): DataExtractionItem {
	const key = row.text('key');
	const description = row.text('description');
	const outputFormat = row.text('outputFormat');
	const required = row.switch('required', undefined);
	const name = isUnset(key) ? '' : ` (${quoted(key)})`;
	const where = `Data Point ${position}${name} of 'Data Extraction'`;
	requireReplaced(where, row.expression('description'), description);
	if (isUnset(description) || hasNoValue(description)) {
		throw new InvalidInput(
			`${where} has no description`,
			'Describe what the agent should ask or extract.',
		);
	}
	return {
		...(!isUnset(key) && { key }),
		description,
		...(required !== undefined && { required }),
		...(!isUnset(outputFormat) && { output_format: outputFormat }),
	};
}

export const additionalData: INodeProperties = {
	displayName: 'Additional Data',
	name: 'additionalDataFields',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Field',
	default: {},
	description:
		"Information for the agent in this call, such as an order number. For nested values, use 'Additional Body Fields' with additional_data.",
	options: [
		{
			displayName: 'Field',
			name: 'fields',
			values: [
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. order_number',
					description: 'The name of the value for the agent',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					placeholder: 'e.g. A-1042',
					description: 'The value for the agent',
				},
			],
		},
	],
};

function namedValue(row: Fields, position: number): [string, JsonValue] {
	const name = row.text('name');
	const value = row.scalar('value', MAY_BE_BLANK);
	const where = `Field ${position} of 'Additional Data'`;
	requireReplaced(where, row.expression('value'), String(value));
	if (name !== '') return [name, hasNoValue(value) ? '' : value];
	throw new InvalidInput(
		`${where} has no name`,
		'Enter the name of the value for the agent, or remove the field.',
	);
}

/** Undefined if there are no fields. */
export function readAdditionalData(options: Fields): JsonObject | undefined {
	const entries = options.rows(additionalData.name).map((row, i) => namedValue(row, i + 1));
	return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
