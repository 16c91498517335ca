import { DateTime } from 'luxon';
import isPlainObject from 'lodash/isPlainObject';
import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly, type Resolution } from '../../api/modelAdvice';
import {
	MAX_DEPTH,
	isJsonObject,
	isTooDeep,
	lostInJson,
	type JsonObject,
	type JsonValue,
	parseJson,
} from '../../json';
import { formOf, hasForm } from '../../modelForms';
import { isUnset, quoted } from '../../values';
import { isOnlyTextAround, unreadableIn } from './template';

/** Where the values of a form come from. */
export type FieldSource = {
	/** What is saved: a value, an expression, or `ABSENT`. */
	raw(path: string): unknown;
	/** What it comes to: the value, what its expression returns, or `UNEVALUATED`. */
	value(path: string): unknown;
	/** What the code of one expression returns; absent if n8n can only evaluate whole fields. */
	evaluate?: (code: string) => unknown;
};

/** Of a field that the form hides, or an option that is not added. */
export const ABSENT = Symbol('no value');

/** In place of a value whose expression n8n can't evaluate, if nobody else says so. */
export const UNEVALUATED = Symbol('not evaluated');

/** What is passed on as it is. */
export type Scalar = string | number | boolean;

/** A point in time as a date picker or an expression gives it; a text may be no time at all. */
export type TimeValue = string | number | Date | DateTime;

/**
 * Without this, an expression that returns nothing stops the node, because a switch, a filter, a limit or a secret
 * would silently be off. For data of a row, in which a cell may be blank, and where the caller rejects an empty value itself.
 */
export const MAY_BE_BLANK = { mayBeBlank: true } as const;

/**
 * Text around expressions that all returned nothing is nothing, too. For keys and filters, which would otherwise be the
 * same for every item, or match too much.
 */
export const NEEDS_VALUE = { needsValue: true } as const;

type Blank = { mayBeBlank?: boolean; needsValue?: boolean };

/** A value with the declaration of its field. */
type Given = {
	property: INodeProperties;
	value: unknown;
	isExpression: boolean;
	/** A model gave it. */
	isFromModel: boolean;
	/** Only the text around its expressions is left. */
	isOnlyTextAround: boolean;
};

/**
 * The fields of a form, or of a collection in it, read by their declared types: a value of another type stops the node
 * with the field's name. A field that the form doesn't show has no value: `otherwise` is what that means.
 *
 * @throws InvalidInput from every reader, for a value that is not of the type
 */
export class Fields {
	/**
	 * @param prefix of the paths of these fields, such as `options.`
	 * @param place the collection that they are in, as a message names it
	 */
	constructor(
		private readonly declared: readonly INodeProperties[],
		private readonly source: FieldSource,
		private readonly prefix = '',
		private readonly place = '',
	) {}

	/** Whether the form shows the field, or the option is added. */
	has(name: string): boolean {
		return this.source.raw(this.prefix + name) !== ABSENT;
	}

	/** The text of the field's expression; empty if it has a fixed value. */
	expression(name: string): string {
		const raw = this.source.raw(this.prefix + name);
		const inner = isLocator(raw) ? raw.value : raw;
		return typeof inner === 'string' && inner.startsWith('=') ? inner : '';
	}

	/** On or off; also the texts "true" and "false", as spreadsheets and models give them. */
	switch<T>(name: string, otherwise: T): boolean | T {
		const given = this.given(name, 'boolean');
		if (given === undefined) return otherwise;
		const { value, property } = given;
		if (typeof value === 'boolean') return value;
		// n8n shows other fields by the value of one without expressions, and takes no text for it.
		const isWord = typeof value === 'string' && property.noDataExpression !== true;
		const word = isWord ? value.trim().toLowerCase() : '';
		if (word === 'true' || word === 'false') return word === 'true';
		throw this.fault(given, 'true or false', 'use the switch');
	}

	/** A finite number, also one that is written as text. */
	number<T>(name: string, otherwise: T): number | T {
		const given = this.given(name, 'number');
		if (given === undefined) return otherwise;
		const { value } = given;
		const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
		if (typeof number === 'number' && Number.isFinite(number)) return number;
		throw this.fault(given, 'a number');
	}

	/** Text without white space around it; a number is written out. */
	text(name: string, blank: Blank = {}): string {
		return this.textAsWritten(name, blank).trim();
	}

	/** Text with the white space around it; a number is written out. */
	textAsWritten(name: string, blank: Blank = {}): string {
		return String(this.textOrNumber(name, blank) ?? '');
	}

	/**
	 * Text, or an exact number, without white space around it as HTTP headers have it. `undefined` if the field is
	 * empty; an expression always gives one.
	 *
	 * @param resolution instead of how to correct the expression
	 */
	secret(name: string, resolution?: Resolution): string | undefined {
		const given = this.given(name, 'string');
		if (given === undefined || (given.value === '' && !given.isExpression)) return undefined;
		const { value } = given;
		const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
		const text = typeof value === 'string' || isExact ? String(value).trim() : '';
		if (text !== '' && !given.isOnlyTextAround) return text;
		const fault = this.fault(given, 'text');
		throw resolution === undefined ? fault : new InvalidInput(fault.message, resolution);
	}

	/** An ID or a phone number, which spreadsheets keep as text or as a number; `undefined` if the field is empty. */
	textOrNumber(name: string, blank: Blank = {}): string | number | undefined {
		const given = this.given(name, 'string', 'resourceLocator');
		if (given === undefined || this.isEmpty(given, blank, 'text or a number')) return undefined;
		return this.textIn(given, given.value);
	}

	/** Text, or the texts of a list that an expression returned. */
	textOrList(name: string, blank: Blank = {}): string | string[] {
		const given = this.givenList(name, 'string', 'resourceLocator');
		if (given === undefined || this.isEmpty(given, blank, TEXTS)) return '';
		const { value } = given;
		if (!Array.isArray(value)) return String(this.textIn(given, value, TEXTS));
		return value.map((one: unknown) => String(this.textIn(given, one, TEXTS)));
	}

	/** One of the values that the list of the form offers, as text. */
	choice<T>(name: string, otherwise: T): string | T {
		const given = this.given(name, 'options');
		if (given === undefined) return otherwise;
		return this.offered(given, given.value);
	}

	/** What an expression or a model may also write in its own words, which the caller checks. */
	choiceOrText(name: string, blank: Blank = {}): string {
		const given = this.given(name, 'options', 'string');
		if (given === undefined || this.isEmpty(given, blank, 'text')) return '';
		return String(this.textIn(given, given.value)).trim();
	}

	/** Some of the values that the list of the form offers; from a model they come as text, with commas. */
	choices(name: string): string[] {
		const given = this.givenList(name, 'multiOptions');
		if (given === undefined || this.isEmpty(given, {}, 'a list')) return [];
		const { value } = given;
		const chosen: unknown = typeof value === 'string' ? value.split(',') : value;
		if (!Array.isArray(chosen)) throw this.fault(given, 'a list');
		const named = chosen.filter((one) => !isUnset(one));
		return named.map((one: unknown) => this.offered(given, one));
	}

	/** What is passed on as it is: text, a number, true or false. */
	scalar(name: string, blank: Blank = {}): Scalar {
		const given = this.given(name, 'string');
		if (given === undefined || this.isEmpty(given, blank, SCALAR)) return '';
		return this.scalarIn(given, given.value);
	}

	/** The same, or a list of such values that an expression returned. */
	scalars(name: string, blank: Blank = {}): Scalar | Scalar[] {
		const given = this.givenList(name, 'string');
		if (given === undefined || this.isEmpty(given, blank, SCALAR)) return '';
		const { value } = given;
		if (!Array.isArray(value)) return this.scalarIn(given, value);
		return value.map((one: unknown) => this.scalarIn(given, one));
	}

	/** `undefined` if the field is empty. */
	time(name: string, blank: Blank = {}): TimeValue | undefined {
		const given = this.given(name, 'dateTime');
		if (given === undefined || this.isEmpty(given, blank, 'a date and time')) return undefined;
		const { value } = given;
		if (value instanceof Date || DateTime.isDateTime(value)) return value;
		return this.textIn(given, value, 'a date and time');
	}

	/** A JSON value, or the text of one; `undefined` if the field is empty. */
	json(name: string, blank: Blank = {}): JsonValue | undefined {
		const given = this.given(name, 'json');
		const value = this.jsonIn(given, blank);
		const lost = lostInJson(value);
		if (given === undefined || lost === undefined) return value;
		throw this.fault({ ...given, value: lost }, 'JSON');
	}

	/** The same for rows, in which what JSON can't express is a blank cell, as it is in an input item. */
	jsonRows(name: string): JsonValue | undefined {
		return this.jsonIn(this.given(name, 'json'), {});
	}

	/** A JSON object; an empty one if the field is empty. */
	jsonObject(name: string, blank: Blank = {}): JsonObject {
		const value = this.json(name, blank);
		if (value === undefined) return {};
		const object = typeof value === 'string' ? parseJson(value) : value;
		if (isJsonObject(object)) return object;
		const { displayName: label } = this.propertyOf(name, ['json']);
		throw new InvalidInput(`${label} is not a JSON object`, {
			onScreen: `Write ${label} as names and values in curly brackets, such as { "plan": "gold" }.`,
			forModel: this.adviceForModel(name, label),
		});
	}

	/** The form of a value; nothing if it isn't the model that gives it. */
	private adviceForModel(name: string, label: string): string {
		if (!isFromModel(this.source.raw(this.prefix + name))) return '';
		return hasForm(label) ? formOf(label) : `Give ${label} as a JSON object.`;
	}

	/** The members of a collection. */
	collection(name: string): Fields {
		const members = this.declarationsOf(name, ['collection']).flatMap(({ options = [] }) =>
			options.filter((option) => 'type' in option),
		);
		const { displayName } = this.propertyOf(name, ['collection']);
		return new Fields(members, this.source, `${this.prefix}${name}.`, `'${displayName}'`);
	}

	/** The fields of a fixed collection that has one group; `undefined` if it is not filled in. */
	group(name: string): Fields | undefined {
		const group = this.groupOf(name);
		const path = `${this.prefix}${name}.${group.name}`;
		const { displayName } = this.propertyOf(name, ['fixedCollection']);
		if (this.source.raw(path) === ABSENT) return undefined;
		return new Fields(group.values, this.source, `${path}.`, `'${displayName}'`);
	}

	/** The rows of a fixed collection. */
	rows(name: string): Fields[] {
		const group = this.groupOf(name);
		const path = `${this.prefix}${name}.${group.name}`;
		const { displayName } = this.propertyOf(name, ['fixedCollection']);
		return asList(this.source.raw(path)).map((_row, index) => {
			const place = `${group.displayName} ${index + 1} of '${displayName}'`;
			return new Fields(group.values, this.source, `${path}[${index}].`, place);
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
					'Correct the expression. It can use variables, but no items: this node has none when it reads the field.',
				),
			);
		}
		// n8n makes text of an expression that such a field can't have.
		if (property.noDataExpression === true && isExpressionText(value)) {
			throw new InvalidInput(
				`${this.labelOf(property)} can't be an expression (got ${quoted(value)})`,
				onScreenOnly('Enter or choose a value in the form.'),
			);
		}
		// An empty text is how a model leaves a field empty.
		const isLeftEmpty = value === '' && byModel;
		if (!hasExpression(raw) || isLeftEmpty) {
			return {
				property,
				value,
				isExpression: false,
				isFromModel: byModel,
				isOnlyTextAround: false,
			};
		}
		const expression = this.expression(name);
		const onlyText = isOnlyTextAround(value, expression);
		const given = {
			property,
			value,
			isExpression: true,
			isFromModel: byModel,
			isOnlyTextAround: onlyText,
		};
		this.requireReadable(given, expression);
		return given;
	}

	/** n8n writes out an object in a text as "[object Object]". */
	private requireReadable(given: Given, expression: string): void {
		const { value } = given;
		if (typeof value !== 'string') return;
		const found = unreadableIn(value, expression, this.source.evaluate);
		if (found !== undefined) throw this.fault({ ...given, value: found }, 'text');
	}

	/** A list without anything in it is nothing, too. */
	private givenList(name: string, ...types: NodePropertyTypes[]): Given | undefined {
		const given = this.given(name, ...types);
		if (given === undefined || !Array.isArray(given.value)) return given;
		return given.value.every(isUnset) ? { ...given, value: undefined } : given;
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
		if (given === undefined || this.isEmpty(given, blank, 'JSON')) return undefined;
		if (isJson(given.value)) return requireShallow(given.value);
		throw this.fault(given, 'JSON');
	}

	/** @throws InvalidInput if an expression returned nothing where that must not pass for an empty field */
	private isEmpty(
		given: Given,
		{ mayBeBlank = false, needsValue = false }: Blank,
		wanted: string,
	): boolean {
		if (!isUnset(given.value) && !(needsValue && given.isOnlyTextAround)) return false;
		if (!given.isExpression || mayBeBlank) return true;
		throw this.fault(given, wanted, 'clear the field');
	}

	private textIn(given: Given, value: unknown, wanted = 'text or a number'): string | number {
		if (typeof value === 'string') return value;
		if (typeof value === 'number' && Number.isFinite(value)) return value;
		if (typeof value === 'bigint') return String(value);
		throw this.fault(given, wanted);
	}

	private scalarIn(given: Given, value: unknown): Scalar {
		return typeof value === 'boolean' ? value : this.textIn(given, value, SCALAR);
	}

	private offered(given: Given, value: unknown): string {
		const { options = [] } = given.property;
		const values = options.flatMap((option) => ('value' in option ? [option.value] : []));
		const written = typeof value === 'string' ? value.trim() : value;
		const found = values.find((one) => one === written || String(one) === written);
		if (found !== undefined) return String(found);
		const named = values.map((one) => quoted(String(one))).join(', ');
		throw this.fault({ ...given, value }, values.length === 1 ? named : `one of ${named}`);
	}

	private labelOf({ displayName }: INodeProperties): string {
		return `'${displayName}'${this.place === '' ? '' : ` in ${this.place}`}`;
	}

	/** @param instead what a person can do instead of correcting an expression */
	private fault(given: Given, wanted: string, instead?: string): InvalidInput {
		const { property, isExpression } = given;
		const value = given.isOnlyTextAround ? undefined : given.value;
		const { typeOptions } = property;
		const field = this.labelOf(property);
		const shown = typeOptions?.password === true ? kindOf(value) : shownValue(value);
		const { displayName } = property;
		const form = hasForm(displayName) ? formOf(displayName) : `Give ${displayName} as ${wanted}.`;
		const forModel = given.isFromModel ? form : '';
		if (!isExpression) {
			return new InvalidInput(`${field} must be ${wanted} (got ${shown})`, {
				onScreen: `Enter ${wanted}.`,
				forModel,
			});
		}
		const onScreen =
			instead === undefined
				? `Make the expression return ${wanted}.`
				: `Make the expression return ${wanted}, or ${instead}.`;
		return new InvalidInput(`${field} must be ${wanted}, but its expression returned ${shown}`, {
			onScreen,
			forModel,
		});
	}
}

const TEXTS = 'text or a list of texts';
const SCALAR = 'text, a number, true or false';
const FROM_MODEL = /\$fromAI\(/i;
const NUMBER = /^\s*[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i;

type Locator = { __rl: true; value: unknown };

/** What n8n keeps of a field with *From List* and *By ID*. */
export function isLocator(raw: unknown): raw is Locator {
	return isPlainObject(raw) && typeof raw === 'object' && raw !== null && '__rl' in raw;
}

export function hasExpression(raw: unknown): boolean {
	if (typeof raw === 'string') return raw.startsWith('=');
	if (typeof raw !== 'object' || raw === null) return false;
	return Object.values(raw).some(hasExpression);
}

function isFromModel(raw: unknown): boolean {
	const inner = isLocator(raw) ? raw.value : raw;
	return typeof inner === 'string' && FROM_MODEL.test(inner);
}

/** A model may write the word where it means the value. */
function isNothingInWords(value: unknown): boolean {
	return typeof value === 'string' && ['null', 'undefined'].includes(value.trim());
}

function isExpressionText(value: unknown): boolean {
	return typeof value === 'string' && value.includes('{{') && value.includes('}}');
}

function asList(value: unknown): unknown[] {
	return Array.isArray(value) ? value : value === ABSENT ? [] : [value];
}

/** Lists and objects are looked into by `lostInJson`. */
function isJson(value: unknown): value is JsonValue {
	if (typeof value === 'number') return Number.isFinite(value);
	if (typeof value === 'object') return Array.isArray(value) || isPlainObject(value);
	return typeof value === 'string' || typeof value === 'boolean';
}

/** @throws InvalidInput where lists and objects stand in each other too often: to go through them would break off halfway */
export function requireShallow<T>(value: T): T {
	if (isTooDeep(value)) throw tooDeep();
	return value;
}

export function tooDeep(): InvalidInput {
	return new InvalidInput(
		`A field of this node contains lists or objects that are nested more than ${MAX_DEPTH} levels deep, so nothing was sent`,
		onScreenOnly('Take the part that is needed out of it in the node before this one.'),
	);
}

/** A value as a message shows it. */
function shownValue(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	return typeof value === 'string' && !isUnset(value) ? quoted(value) : kindOf(value);
}

/** What a value is, without showing it. A number is only named when it can't be a secret. */
function kindOf(value: unknown): string {
	if (value === undefined || value === null) return 'nothing';
	if (typeof value === 'string') return isUnset(value) ? 'an empty text' : 'text';
	if (typeof value === 'number') return 'a number that is not exact';
	if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid date' : 'a date';
	if (DateTime.isDateTime(value)) return value.isValid ? 'a date' : 'an invalid date';
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
