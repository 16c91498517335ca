import { DateTime } from 'luxon';
import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly, type Resolution } from '../../api/resolution';
import { isJsonObject, lostInJson, type JsonObject, type JsonValue, parseJson } from '../../json';
import { isUnset, quoted } from '../../values';
import {
	ABSENT,
	asList,
	type Blank,
	fault,
	type FieldSource,
	formFor,
	type Given,
	hasExpression,
	isEmpty,
	isExpressionText,
	isFromModel,
	isJson,
	isLocator,
	isNothingInWords,
	NUMBER,
	optionOf,
	requireShallow,
	SCALAR,
	type Scalar,
	scalarIn,
	textIn,
	type TimeValue,
	UNEVALUATED,
} from './fieldValue';
import { isOnlyTextAround, unreadableIn } from './template';

/**
 * Allows expressions that return nothing. By default they stop the node, because a switch, filter, limit, or secret
 * would silently be off. For data of a row, which may have blank cells, and if the caller rejects empty values.
 */
export const MAY_BE_BLANK = { mayBeBlank: true } as const;

/**
 * Rejects a text whose expressions all returned nothing. For keys and filters, which would otherwise be the same for
 * every item, or match too much.
 */
export const NEEDS_VALUE = { needsValue: true } as const;

/** Allows expressions that return an empty list, for fields that can be empty for some items. */
export const MAY_BE_EMPTY_LIST = { mayBeEmptyList: true } as const;

const TEXTS = 'text or a list of texts';

/**
 * Reads the fields of a form, or of a collection in it, by their declared types. A value of another type stops the node
 * with the field's name. If the form doesn't show a field, the reader returns `fallback`.
 *
 * @throws InvalidInput from every reader, for a value of another type
 */
export class Fields {
	/**
	 * @param prefix of the paths of these fields, such as `options.`
	 * @param location the collection of these fields, for messages
	 */
	constructor(
		private readonly declared: readonly INodeProperties[],
		private readonly source: FieldSource,
		private readonly prefix = '',
		private readonly location = '',
	) {}

	/** Whether the form shows the field, or the option is added. */
	has(name: string): boolean {
		return this.source.raw(this.prefix + name) !== ABSENT;
	}

	/** The field's expression. Empty if it has a fixed value. */
	expression(name: string): string {
		const raw = this.source.raw(this.prefix + name);
		const inner = isLocator(raw) ? raw.value : raw;
		return typeof inner === 'string' && inner.startsWith('=') ? inner : '';
	}

	/** A boolean, or the text "true" or "false" from a spreadsheet or model. */
	switch<T>(name: string, fallback: T): boolean | T {
		const given = this.given(name, 'boolean');
		if (given === undefined) return fallback;
		const { value, property } = given;
		if (typeof value === 'boolean') return value;
		// n8n shows other fields depending on a field without expressions, and doesn't accept text for it.
		const isWord = typeof value === 'string' && property.noDataExpression !== true;
		const word = isWord ? value.trim().toLowerCase() : '';
		if (word === 'true' || word === 'false') return word === 'true';
		throw fault(given, 'true or false', 'use the switch');
	}

	/** A finite number, also as text. */
	number<T>(name: string, fallback: T): number | T {
		const given = this.given(name, 'number');
		if (given === undefined) return fallback;
		const { value } = given;
		const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
		if (typeof number === 'number' && Number.isFinite(number)) return number;
		throw fault(given, 'a number');
	}

	/** Trimmed text. Numbers are converted. */
	text(name: string, blank: Blank = {}): string {
		return this.textAsWritten(name, blank).trim();
	}

	/** Text that isn't trimmed. Numbers are converted. */
	textAsWritten(name: string, blank: Blank = {}): string {
		return String(this.textOrNumber(name, blank) ?? '');
	}

	/**
	 * Trimmed text, like the value of an HTTP header, or an exact number. `undefined` if the field is empty. An empty
	 * result of an expression is an error.
	 *
	 * @param resolution replaces the default advice
	 */
	secret(name: string, resolution?: Resolution): string | undefined {
		const given = this.given(name, 'string');
		if (given === undefined || (given.value === '' && !given.isExpression)) return undefined;
		const { value } = given;
		const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
		const text = typeof value === 'string' || isExact ? String(value).trim() : '';
		if (text !== '' && !given.isOnlyTextAround) return text;
		const why = fault(given, 'text');
		throw resolution === undefined ? why : new InvalidInput(why.message, resolution);
	}

	/** An ID or a phone number, which is text or a number in spreadsheets. `undefined` if the field is empty. */
	textOrNumber(name: string, blank: Blank = {}): string | number | undefined {
		const given = this.given(name, 'string', 'resourceLocator');
		if (given === undefined || isEmpty(given, blank, 'text or a number')) return undefined;
		return textIn(given, given.value);
	}

	/** Text, or the texts of a list: several options, or the result of an expression. */
	textOrList(name: string, blank: Blank = {}): string | string[] {
		const given = this.givenList(name, 'string', 'resourceLocator', 'multiOptions');
		if (given === undefined || isEmpty(given, blank, TEXTS)) return '';
		const { value } = given;
		if (!Array.isArray(value)) return String(textIn(given, value, TEXTS));
		return value.map((one: unknown) => String(textIn(given, one, TEXTS)));
	}

	/** One of the field's options, as text. */
	choice<T>(name: string, fallback: T): string | T {
		const given = this.given(name, 'options');
		if (given === undefined) return fallback;
		return optionOf(given, given.value);
	}

	/** An option, or any other text from an expression or a model. The caller checks it. */
	choiceOrText(name: string, blank: Blank = {}): string {
		const given = this.given(name, 'options', 'string');
		if (given === undefined || isEmpty(given, blank, 'text')) return '';
		return String(textIn(given, given.value)).trim();
	}

	/** Some of the field's options. From a model, as text with commas. */
	choices(name: string): string[] {
		const given = this.givenList(name, 'multiOptions');
		if (given === undefined || isEmpty(given, {}, 'a list')) return [];
		const { value } = given;
		const chosen: unknown = typeof value === 'string' ? value.split(',') : value;
		if (!Array.isArray(chosen)) throw fault(given, 'a list');
		const named = chosen.filter((one) => !isUnset(one));
		return named.map((one: unknown) => optionOf(given, one));
	}

	/** Text, a number, true, or false, unchanged. */
	scalar(name: string, blank: Blank = {}): Scalar {
		const given = this.given(name, 'string');
		if (given === undefined || isEmpty(given, blank, SCALAR)) return '';
		return scalarIn(given, given.value);
	}

	/** The same, or a list of such values from an expression. */
	scalars(name: string, blank: Blank = {}): Scalar | Scalar[] {
		const given = this.givenList(name, 'string');
		if (given === undefined || isEmpty(given, blank, SCALAR)) return '';
		const { value } = given;
		if (!Array.isArray(value)) return scalarIn(given, value);
		return value.map((one: unknown) => scalarIn(given, one));
	}

	/** `undefined` if the field is empty. */
	time(name: string, blank: Blank = {}): TimeValue | undefined {
		const given = this.given(name, 'dateTime');
		if (given === undefined || isEmpty(given, blank, 'a date and time')) return undefined;
		const { value } = given;
		if (value instanceof Date || DateTime.isDateTime(value)) return value;
		return textIn(given, value, 'a date and time');
	}

	/** A JSON value, or its text. `undefined` if the field is empty. */
	json(name: string, blank: Blank = {}): JsonValue | undefined {
		const given = this.given(name, 'json');
		const value = this.jsonIn(given, blank);
		const lost = lostInJson(value);
		if (given === undefined || lost === undefined) return value;
		throw fault({ ...given, value: lost }, 'JSON');
	}

	/**
	 * The same for rows. A value that JSON can't express is a blank cell, as in an input item. `undefined` also if an
	 * expression returned nothing.
	 */
	jsonRows(name: string): JsonValue | undefined {
		return this.jsonIn(this.given(name, 'json'), MAY_BE_BLANK);
	}

	/** A JSON object. Empty if the field is empty. */
	jsonObject(name: string, blank: Blank = {}): JsonObject {
		const value = this.json(name, blank);
		if (value === undefined) return {};
		const object = typeof value === 'string' ? parseJson(value) : value;
		if (isJsonObject(object)) return object;
		const { displayName: label } = this.propertyOf(name, ['json']);
		const isByModel = isFromModel(this.source.raw(this.prefix + name));
		throw new InvalidInput(`'${label}' must be a JSON object`, {
			onScreen: 'Enter names and values in curly brackets, such as { "plan": "gold" }.',
			forModel: isByModel ? formFor(label, 'a JSON object') : '',
		});
	}

	/** The members of a collection. */
	collection(name: string): Fields {
		const members = this.declarationsOf(name, ['collection']).flatMap(({ options = [] }) =>
			options.filter((option) => 'type' in option),
		);
		const { displayName } = this.propertyOf(name, ['collection']);
		return new Fields(members, this.source, `${this.prefix}${name}.`, `'${displayName}'`);
	}

	/** The fields of an option that is a fixed collection with one group. `undefined` if the option isn't added. */
	group(name: string): Fields | undefined {
		const group = this.groupOf(name);
		const path = `${this.prefix}${name}.${group.name}`;
		const { displayName, placeholder = '' } = this.propertyOf(name, ['fixedCollection']);
		if (!this.has(name)) return undefined;
		if (this.source.raw(path) === ABSENT) {
			throw new InvalidInput(
				`'${displayName}' is empty`,
				onScreenOnly(`Select '${placeholder}', or remove '${displayName}'.`),
			);
		}
		return new Fields(group.values, this.source, `${path}.`, `'${displayName}'`);
	}

	/** The rows of a fixed collection. */
	rows(name: string): Fields[] {
		const group = this.groupOf(name);
		const path = `${this.prefix}${name}.${group.name}`;
		const { displayName } = this.propertyOf(name, ['fixedCollection']);
		return asList(this.source.raw(path)).map((_row, index) => {
			const location = `${group.displayName} ${index + 1} of '${displayName}'`;
			return new Fields(group.values, this.source, `${path}[${index}].`, location);
		});
	}

	private groupOf(name: string) {
		const { options = [] } = this.propertyOf(name, ['fixedCollection']);
		const group = options.find((option) => 'values' in option);
		if (group === undefined) throw new TypeError(`The form declares no group of ${name}`);
		return group;
	}

	private given(name: string, ...types: NodePropertyTypes[]): Given | undefined {
		const property = this.propertyOf(name, types);
		const path = this.prefix + name;
		const raw = this.source.raw(path);
		if (raw === ABSENT) return undefined;
		const byModel = isFromModel(raw);
		const returned = this.source.value(path);
		const value = byModel && isNothingInWords(returned) ? undefined : returned;
		if (value === UNEVALUATED) {
			throw new InvalidInput(
				`n8n can't evaluate the expression of ${this.labelOf(property)}`,
				onScreenOnly(
					'Correct the expression. It can use variables, but no items, because this node has no input when it reads the field.',
				),
			);
		}
		// n8n treats an expression as text if the field can't have expressions.
		if (property.noDataExpression === true && isExpressionText(value)) {
			throw new InvalidInput(
				`${this.labelOf(property)} can't be an expression (got ${quoted(value)})`,
				onScreenOnly('Enter or choose a value in the form.'),
			);
		}
		// A model leaves a field empty with an empty text.
		const isLeftEmpty = value === '' && byModel;
		const isExpression = hasExpression(raw) && !isLeftEmpty;
		const expression = isExpression ? this.expression(name) : '';
		const given = {
			property,
			label: this.labelOf(property),
			value,
			isExpression,
			isFromModel: byModel,
			isOnlyTextAround: isExpression && isOnlyTextAround(value, expression),
		};
		if (isExpression) this.requireReadable(given, expression);
		return given;
	}

	/** n8n writes an object in a text as "[object Object]". */
	private requireReadable(given: Given, expression: string): void {
		const { value } = given;
		if (typeof value !== 'string') return;
		const found = unreadableIn(value, expression, this.source.evaluate);
		if (found !== undefined) throw fault({ ...given, value: found }, 'text');
	}

	/** A list with only empty values counts as empty. */
	private givenList(name: string, ...types: NodePropertyTypes[]): Given | undefined {
		const given = this.given(name, ...types);
		if (given === undefined || !Array.isArray(given.value)) return given;
		return given.value.every(isUnset) ? { ...given, value: undefined, isEmptyList: true } : given;
	}

	private propertyOf(name: string, types: NodePropertyTypes[]): INodeProperties {
		const [property] = this.declarationsOf(name, types);
		if (property !== undefined) return property;
		throw new TypeError(`The form declares no ${types.join(' or ')} ${this.prefix}${name}`);
	}

	private declarationsOf(name: string, types: NodePropertyTypes[]): INodeProperties[] {
		return this.declared.filter(
			(property) => property.name === name && types.includes(property.type),
		);
	}

	private jsonIn(given: Given | undefined, blank: Blank): JsonValue | undefined {
		if (given === undefined || isEmpty(given, blank, 'JSON')) return undefined;
		if (isJson(given.value)) return requireShallow(given.value);
		throw fault(given, 'JSON');
	}

	private labelOf({ displayName }: INodeProperties): string {
		return `'${displayName}'${this.location === '' ? '' : ` in ${this.location}`}`;
	}
}
