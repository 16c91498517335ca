import type { INodeProperties } from 'n8n-workflow';
import { COUNTRIES, withoutAccents } from '../../phone/countries';

/** 'Country' of a phone number, as a list. */
export const countryField: INodeProperties = {
	displayName: 'Country',
	name: 'countryCode',
	type: 'options',
	options: [
		{ name: '(Choose a Country)', value: '' },
		// The editor searches these names, so they also have the code and the spelling without accents.
		...COUNTRIES.map(({ code, name }) => {
			const plain = withoutAccents(name);
			const label = plain === name ? code : `${code}, ${plain}`;
			return { name: `${name} (${label})`, value: code };
		}),
	],
	default: '',
};
