import { LIMITS } from '../../shared/api/limits';
import { forEveryone } from '../../shared/api/modelAdvice';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../shared/json';
import type { DataExtractionItem } from '../../shared/api/types';
import { type Checked, isUnset, problem, quoted } from '../../shared/values';

/** Numbers come from spreadsheets and are taken as written. */
export function text(field: string, value: unknown): Checked<string> {
	if (typeof value === 'string' || typeof value === 'number') return { value: String(value) };
	return problem(
		`${field} holds ${quoted(value)}, which is not text`,
		forEveryone(`Enter ${field} as text.`),
	);
}

export function initialGreeting(value: unknown): Checked<string> {
	const checked = text('Initial Greeting', value);
	if ('problem' in checked) return checked;
	const length = [...checked.value].length;
	const most = LIMITS.initialGreetingCharacters;
	if (length <= most) return checked;
	return problem(
		`Initial Greeting has ${length} characters, and the service takes at most ${most}`,
		forEveryone(`Shorten it by ${length - most}.`),
	);
}

export function webhookUrl(value: unknown): Checked<string> {
	const address = String(value).trim();
	if (/^https?:\/\/[^/?#]/i.test(address) && URL.canParse(address)) return { value: address };
	return problem(
		`Webhook URL holds ${quoted(value)}, which is not a complete web address`,
		forEveryone(
			'It begins with https:// or http:// and names a host, for example https://example.com/call-results.',
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
		`${field} holds ${quoted(value)}`,
		forEveryone(`Enter a whole number${unit} from ${min} to ${max}.`),
	);
}

export function boolean(field: string, value: unknown): Checked<boolean> {
	const word = String(value).trim().toLowerCase();
	if (word === 'true' || word === 'false') return { value: word === 'true' };
	return problem(`${field} holds ${quoted(value)}`, {
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
		`Additional Data as JSON is ${kind}: ${quoted(value)}`,
		forEveryone('Give names with their values, written as {"plan": "Gold", "city": "Pune"}.'),
	);
}

/** A row of names and values as the screen gives it. */
export type NamedValue = { name?: unknown; value?: JsonValue };

export function namedValue(row: NamedValue, position: number): Checked<[string, JsonValue]> {
	const { name, value = '' } = row;
	if (!isUnset(name)) return { value: [String(name).trim(), value] };
	return problem(
		`Additional Data, field ${position}, has no Name`,
		forEveryone('Give it the name under which the agent knows the value, or remove it.'),
	);
}

/** A data point as the screen gives it. */
export type DataPoint = {
	key?: unknown;
	description?: unknown;
	required?: unknown;
	outputFormat?: unknown;
};

export function dataPoint(point: DataPoint, position: number): Checked<DataExtractionItem> {
	const { key, description, required, outputFormat } = point;
	const field = `Data Extraction, point ${position}${isUnset(key) ? '' : ` (${quoted(key)})`}`;
	if (isUnset(description)) {
		return problem(
			`${field}, has no Description`,
			forEveryone('Say in its Description what the agent should ask or find out.'),
		);
	}
	const item: DataExtractionItem = { description: String(description) };
	if (!isUnset(key)) item.key = String(key);
	if (!isUnset(outputFormat)) item.output_format = String(outputFormat);
	if (isUnset(required)) return { value: item };
	const checked = boolean(`${field}, Required`, required);
	return 'problem' in checked ? checked : { value: { ...item, required: checked.value } };
}
