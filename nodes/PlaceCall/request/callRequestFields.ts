import { LIMITS } from '../../shared/api/limits';
import { forEveryone } from '../../shared/api/modelAdvice';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../shared/json';
import type { DataExtractionItem } from '../../shared/api/types';
import { type Checked, isUnset, problem, quoted } from '../../shared/values';

/** Text, or a number from a spreadsheet. */
export function text(field: string, value: unknown): Checked<string> {
	if (typeof value === 'string' || typeof value === 'number') return { value: String(value) };
	return problem(
		`'${field}' must be text (got ${quoted(value)})`,
		forEveryone(`Enter ${field} as text.`),
	);
}

export function initialGreeting(value: unknown): Checked<string> {
	const checked = text('Initial Greeting', value);
	if ('problem' in checked) return checked;
	const length = [...checked.value].length;
	const max = LIMITS.initialGreetingCharacters;
	if (length <= max) return checked;
	return problem(
		`'Initial Greeting' has ${length} characters, but the maximum is ${max}`,
		forEveryone(`Shorten it by ${length - max}.`),
	);
}

export function webhookUrl(value: unknown): Checked<string> {
	const url = String(value).trim();
	if (/^https?:\/\/[^/?#]/i.test(url) && URL.canParse(url)) return { value: url };
	return problem(
		`'Webhook URL' must be a complete URL (got ${quoted(value)})`,
		forEveryone(
			'It must start with https:// or http:// and contain a host, such as https://example.com/call-results.',
		),
	);
}

export function integer(
	field: string,
	unit: string,
	{ min, max }: { min: number; max: number },
	value: unknown,
): Checked<number> {
	const number = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
	if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) {
		return { value: number };
	}
	return problem(
		`'${field}' must be a whole number from ${min} to ${max} (got ${quoted(value)})`,
		forEveryone(`Enter a whole number${unit} from ${min} to ${max}.`),
	);
}

/** @param label with quotes, as in the message */
export function boolean(label: string, value: unknown): Checked<boolean> {
	const word = String(value).trim().toLowerCase();
	if (word === 'true' || word === 'false') return { value: word === 'true' };
	return problem(`${label} must be true or false (got ${quoted(value)})`, {
		onScreen: 'Turn it on or off, or use true or false.',
		forModel: 'Give true or false.',
	});
}

/** An object, or the JSON text of one. */
export function additionalData(value: unknown): Checked<JsonObject> {
	const data = typeof value === 'string' ? parseJson(value) : value;
	if (isJsonObject(data)) return { value: data };
	const kind = Array.isArray(data) ? 'a list' : data === undefined ? 'not JSON' : 'a single value';
	return problem(
		`'Additional Data as JSON' must be a JSON object, but is ${kind} (got ${quoted(value)})`,
		forEveryone('Enter names and values, such as {"plan": "Gold", "city": "Pune"}.'),
	);
}

/** A row of 'Additional Data'. */
export type NamedValue = { name?: unknown; value?: JsonValue };

export function namedValue(row: NamedValue, position: number): Checked<[string, JsonValue]> {
	const { name, value = '' } = row;
	if (!isUnset(name)) return { value: [String(name).trim(), value] };
	return problem(
		`Field ${position} of 'Additional Data' has no name`,
		forEveryone('Enter the name of the value for the agent, or remove the field.'),
	);
}

/** A row of 'Data Extraction'. */
export type DataPoint = {
	key?: unknown;
	description?: unknown;
	required?: unknown;
	outputFormat?: unknown;
};

export function dataPoint(point: DataPoint, position: number): Checked<DataExtractionItem> {
	const { key, description, required, outputFormat } = point;
	const field = `Data Point ${position}${isUnset(key) ? '' : ` (${quoted(key)})`} of 'Data Extraction'`;
	if (isUnset(description)) {
		return problem(
			`${field} has no description`,
			forEveryone('Describe what the agent should ask or extract.'),
		);
	}
	const item: DataExtractionItem = { description: String(description) };
	if (!isUnset(key)) item.key = String(key);
	if (!isUnset(outputFormat)) item.output_format = String(outputFormat);
	if (isUnset(required)) return { value: item };
	const checked = boolean(`'Required' in ${field}`, required);
	return 'problem' in checked ? checked : { value: { ...item, required: checked.value } };
}
