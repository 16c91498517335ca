import truncate from 'lodash/truncate';
import { InvalidInput } from '../api/errors';
import { onScreenOnly } from '../api/modelAdvice';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, repeatedNames } from '../json';
import { inWords } from '../values';
import type { MappingField } from './field';
import { MAPPING_TOPICS, type MappingTopic } from './topics';

/** The field of the credential that takes the block. */
export const PROVIDER_SETTINGS = 'providerSettings';
export const PROVIDER_SETTINGS_LABEL = 'Settings From Your Provider';

/** What the block says of the topics that it has. */
export type ProviderSettings = ReadonlyMap<MappingTopic, JsonObject>;

/**
 * Reads the block that a provider hands over. A topic that it has is whole: each of its values, or `null` for what
 * the service does without.
 *
 * @throws InvalidInput with all that is wrong with it, at once
 */
export function readProviderSettings(text: string): ProviderSettings {
	if (text.trim() === '') return new Map();
	const written = withPlainSpace(text);
	const block = parseJson(written);
	if (!isJsonObject(block)) throw noBlock(written);
	const faults = [
		...repeatedIn(written),
		...unknownIn(block, namesOf(MAPPING_TOPICS), 'the block'),
		...MAPPING_TOPICS.flatMap((topic) => {
			const said = ownIn(block, topic.name);
			return said === undefined ? [] : faultsIn(topic, said);
		}),
	];
	if (faults.length > 0) throw faulty(faults);
	return new Map(
		MAPPING_TOPICS.flatMap((topic) => {
			const said = ownIn(block, topic.name);
			return isJsonObject(said) ? [[topic, said] as const] : [];
		}),
	);
}

/** Editors and e-mail programs put white space around the values that JSON does not know: a mark at the beginning, spaces that do not break. */
function withPlainSpace(text: string): string {
	// A text in quotes that has no end goes up to the end: nothing after it is looked at again.
	return text.replace(/"[^"\\]*(?:\\[^][^"\\]*)*"?|\s/g, (part) => (/^\s/.test(part) ? ' ' : part));
}

/** Without the commas that programming languages allow before a closing bracket. */
function withoutLastCommas(text: string): string {
	return text.replace(/"[^"\\]*(?:\\[^][^"\\]*)*"?|,(?=\s*[}\]])/g, (part) =>
		part === ',' ? '' : part,
	);
}

/** Of two with one name, JSON has the last: what the other says would get lost. */
function repeatedIn(text: string): string[] {
	const names = repeatedNames(text).map((path) => ({
		name: path.at(-1) ?? '',
		in: path.slice(0, -1),
	}));
	return names.map(({ name, in: outer }) => {
		const where = outer.length === 0 ? 'the block' : quotedName(outer.join('.'));
		return `${where} has ${quotedName(name)} more than once`;
	});
}

function faultsIn({ name, fields }: MappingTopic, said: JsonValue): string[] {
	if (!isJsonObject(said)) return [`“${name}” must hold names and values in curly brackets`];
	const missing = Object.keys(fields).filter((field) => ownIn(said, field) === undefined);
	return [
		...unknownIn(said, Object.keys(fields), `“${name}”`),
		...(missing.length > 0 ? [`“${name}” lacks ${inWords(missing)}`] : []),
		...Object.entries(fields).flatMap(([field, asked]) => {
			const value = ownIn(said, field);
			const fault = value === undefined ? undefined : faultOf(value, asked);
			return fault === undefined ? [] : [`“${field}” in “${name}” ${fault}`];
		}),
	];
}

/** What is wrong with a value, as the end of a sentence that begins with its name. */
function faultOf(
	value: JsonValue,
	{ choices, optional = false }: MappingField,
): string | undefined {
	if (value === null && optional) return undefined;
	const orNull = optional ? ', or null' : '';
	if (choices !== undefined) {
		const values = choices.map((choice) => choice.value);
		if (values.some((one) => one === value)) return undefined;
		return `must be ${values.map((one) => JSON.stringify(one)).join(' or ')}${orNull}`;
	}
	if (typeof value === 'string' && value.trim() !== '') return undefined;
	return `must be text in quotation marks${orNull}`;
}

function unknownIn(said: JsonObject, known: string[], where: string): string[] {
	const unknown = Object.keys(said).filter((name) => !known.includes(name));
	return unknown.length > 0 ? [`${where} has unknown names: ${shortly(unknown)}`] : [];
}

const MOST_NAMES = 10;
const LONGEST_NAME = 60;

/** Names that anyone may have written, as a message shows them. */
function shortly(names: string[]): string {
	const shown = names
		.slice(0, MOST_NAMES)
		.map((name) => truncate(name, { length: LONGEST_NAME, omission: '…' }));
	const more = names.length - shown.length;
	return `${inWords(shown)}${more > 0 ? ` and ${more.toLocaleString('en-US')} more` : ''}`;
}

const quotedName = (name: string): string =>
	`"${truncate(name, { length: LONGEST_NAME, omission: '…' })}"`;

const namesOf = (topics: readonly MappingTopic[]) => topics.map(({ name }) => name);

function ownIn(said: JsonObject, name: string): JsonValue | undefined {
	return Object.hasOwn(said, name) ? said[name] : undefined;
}

function noBlock(text: string): InvalidInput {
	return new InvalidInput(
		`“${PROVIDER_SETTINGS_LABEL}” in the credential is not a block of settings`,
		onScreenOnly(adviceFor(text)),
	);
}

function adviceFor(text: string): string {
	if (isJsonObject(parseJson(withoutLastCommas(text)))) {
		return "Remove each comma that is directly before a closing bracket. JSON doesn't allow it there.";
	}
	return /[“”„‘’]/.test(text)
		? 'Its quotation marks were changed on the way, as e-mail programs do: replace each by a straight one ("), or ask for the block as a text file.'
		: 'Paste the whole block that your provider sent, from the first curly bracket to the last, and nothing else.';
}

function faulty(faults: string[]): InvalidInput {
	return new InvalidInput(
		`“${PROVIDER_SETTINGS_LABEL}” in the credential cannot be used as it is`,
		onScreenOnly(`Correct it, or send this list to whoever provided it: ${faults.join('; ')}.`),
	);
}
