export interface Shop {
  readonly name: string;
  colour?: Colour;
}

export enum Colour {
  Red = 'red',
  Blue = 'blue',
}

export const price = <T extends number>(items: T): number => (items as number) * 5;
